import Errand
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#else
import Darwin
#endif

/// `errand-download`: downloads files from the shell, verifies them, and resumes after any interruption.
@main
struct DownloadCommand {
    static func main() async {
        Descriptor.fillStandardStreams()
        // If the reader of the output goes away, keep downloading.
        signal(SIGPIPE, SIG_IGN)
        let arguments: DownloadArguments
        do { arguments = try ArgumentParser.parse(Array(CommandLine.arguments.dropFirst())) } catch {
            complain("\(error.message); see errand-download --help")
            exit(ExitStatus.failed.rawValue)
        }
        if let text = information(arguments) {
            _ = Descriptor.output.write(text.utf8)
            exit(ExitStatus.complete.rawValue)
        }
        let plan: Plan
        let transport: any Transport
        do {
            transport = try ToolTransport.make(arguments)
            plan = try Plan(arguments)
        } catch {
            complain(error.message)
            exit(ExitStatus.failed.rawValue)
        }
        plan.warnings.forEach(complain)
        let status = await run(plan, transport)
        // All output is written. Skipping the libraries' exit handlers ends the program sooner.
        _exit(status.rawValue)
    }

    private static func run(_ plan: Plan, _ transport: any Transport) async -> ExitStatus {
        let reporter = Reporter(format(plan.arguments))
        let runner = Runner(plan, transport: transport, reporter: reporter)
        let box = SignalName()
        let task = Task { await runner.run(interruptedBy: { box.name }) }
        let signals = Signals { name in
            // A second signal doesn't wait for the first one's cleanup. The next run resumes from the bytes on disk.
            if !box.set(name) { exit(ExitStatus.interrupted.rawValue) }
            task.cancel()
        }
        defer { signals.stop() }
        return await task.value
    }

    /// The text for `--help` and `--version`.
    private static func information(_ arguments: DownloadArguments) -> String? {
        if arguments.asksForHelp {
            return Usage.text(columns: Descriptor.output.isTerminal ? Descriptor.output.size.columns - 1 : 79)
        }
        return arguments.asksForVersion ? "errand-download \(ErrandInfo.version)\n" : nil
    }

    private static func format(_ arguments: DownloadArguments) -> any ReportFormat {
        let toOutput = arguments.place == .standardOutput
        if arguments.isJSON { return JSONFormat(stream: toOutput ? .error : .output) }
        let terminal = getenv("TERM").map { String(cString: $0) } ?? ""
        let isScreen = Descriptor.error.isTerminal && !["", "dumb"].contains(terminal)
        // Don't draw on a terminal that also receives the bytes.
        if arguments.isQuiet || !isScreen || toOutput && Descriptor.output.isTerminal {
            let isQuiet = arguments.isQuiet || isScreen
            return LineFormat(isQuiet: isQuiet, showsPaths: !toOutput)
        }
        return ScreenFormat(showsPaths: !toOutput) { Descriptor.error.size }
    }

    private static func complain(_ text: String) {
        let line = "errand-download: \(text)"
        let lines =
            Descriptor.error.isTerminal
            ? TextLayout.wrapped(line, columns: max(20, Descriptor.error.size.columns - 1), hanging: 2) : [line]
        _ = Descriptor.error.write((lines.joined(separator: "\n") + "\n").utf8)
    }
}

/// The signal that ended the run.
private final class SignalName: Sendable {
    private let value = Mutex<String?>(nil)

    var name: String? { value.withLock { $0 } }

    /// Returns false if an earlier signal was set.
    func set(_ name: String) -> Bool {
        value.withLock { value in
            defer { value = value ?? name }
            return value == nil
        }
    }
}

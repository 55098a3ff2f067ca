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

/// `errand-download`: files from the shell, complete and verified, resumed after any interruption.
@main
struct DownloadCommand {
    static func main() async {
        Descriptor.fillStandardStreams()
        // A reader that goes away is no reason to lose the file.
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
        // Everything is written: without the exit handlers of the libraries the program ends sooner.
        _exit(status.rawValue)
    }

    private static func run(_ plan: Plan, _ transport: any Transport) async -> ExitStatus {
        let reporter = Reporter(format(plan.arguments))
        let runner = Runner(plan, transport: transport, reporter: reporter)
        let box = SignalName()
        let task = Task { await runner.run(interruptedBy: { box.name }) }
        let signals = Signals { name in
            // A second signal does not wait for the first one's end; what is on the disk is resumed all the same.
            if !box.set(name) { exit(ExitStatus.interrupted.rawValue) }
            task.cancel()
        }
        defer { signals.stop() }
        return await task.value
    }

    /// What `--help` and `--version` write.
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
        // A terminal that takes the bytes as well cannot be drawn on.
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

    /// False if there was one before.
    func set(_ name: String) -> Bool {
        value.withLock { value in
            defer { value = value ?? name }
            return value == nil
        }
    }
}

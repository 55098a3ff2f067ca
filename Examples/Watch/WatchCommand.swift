import Dispatch
import Errand
import ErrandLoadingIndicatorLog
import Foundation

/// `errand-watch [DIRECTORY | --inspect]`
///
/// Exits with 0 on success, 1 if a request or a file failed, 2 for invalid arguments, or 128 plus the signal's number
/// if interrupted.
@main
struct WatchCommand {
    static let usage = """
        usage: errand-watch [DIRECTORY]
               errand-watch --inspect

        Sends a few requests to a server in this process, and shows a spinner with a log above it. With a DIRECTORY, it
        writes errand.har and errand.html there. With --inspect, it sends the requests every three seconds until you
        interrupt it, and prints the address of a page that shows them in a browser.
        """

    static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        if arguments.contains("--help") || arguments.contains("-h") {
            print(usage)
            exit(0)
        }
        let inspects = arguments == ["--inspect"]
        if !inspects, let option = arguments.first(where: { $0.hasPrefix("-") }) {
            fail("unknown option: \(option)", 2)
        }
        if arguments.count > 1 { fail("expected one directory, got several", 2) }
        // The argument is empty if it comes from an unset shell variable.
        if arguments == [""] { fail("the directory's name is empty", 2) }
        let directory = inspects ? nil : arguments.first.map { URL(filePath: $0, directoryHint: .isDirectory) }
        if let directory { check(directory) }
        let watch = Watch()
        let signals = signals(ending: watch.spinner)
        defer { withExtendedLifetime(signals) {} }
        do {
            if inspects { try await watch.inspect() } else { try await watch.run() }
        } catch { fail(sentence(error), 1) }
        guard let directory else { return }
        do { try watch.write(to: directory) } catch {
            fail("cannot write to \(directory.path): \(sentence(error))", 1)
        }
        print("errand.har and errand.html are in \(directory.path)")
    }

    /// Removes the spinner and exits on an interruption, on any thread.
    private nonisolated static func signals(ending spinner: TerminalSpinner) -> [any DispatchSourceSignal] {
        [SIGINT, SIGTERM, SIGHUP].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            let end: @Sendable () -> Void = {
                spinner.finish()
                exit(128 + number)
            }
            source.setEventHandler(handler: end)
            source.resume()
            return source
        }
    }

    /// Exits if the directory can't be used. Called before any request is sent, because the files are written last.
    private static func check(_ directory: URL) {
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: directory.path, isDirectory: &isDirectory) else {
            fail("there is no directory \(directory.path)", 2)
        }
        if !isDirectory.boolValue { fail("\(directory.path) is not a directory", 2) }
        if !FileManager.default.isWritableFile(atPath: directory.path) { fail("cannot write to \(directory.path)", 1) }
    }

    private static func sentence(_ error: any Error) -> String {
        (error as? ErrandError)?.description ?? error.localizedDescription
    }

    private static func fail(_ message: String, _ code: Int32) -> Never {
        FileHandle.standardError.write(Data("errand-watch: \(message)\n".utf8))
        if code == 2 { FileHandle.standardError.write(Data("see errand-watch --help\n".utf8)) }
        exit(code)
    }
}

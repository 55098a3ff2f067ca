#if os(Linux)
import Foundation
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// The spinner as a person sees it, in a terminal of 40 columns.
@Suite(
    "The spinner in tmux", .serialized, .enabled(if: Program("tmux") != nil, "tmux is needed"),
    .endsInTime, .leakChecked
)
struct TmuxTests {
    /// A private tmux that runs the program.
    private final class Screen: Sendable {
        let folder: String
        private let tmux: Program
        private let input: Int32

        init(_ environment: String = "", program name: String = "errand-spinner", then after: String = "") async throws
        {
            var template = Array("/tmp/errand-tmux.XXXXXX".utf8CString)
            folder = try #require(mkdtemp(&template).map { String(cString: $0) })
            tmux = try #require(Program("tmux"))
            mkfifo(folder + "/input", 0o600)
            // Open for reading too, so opening doesn't wait for the program.
            input = open(folder + "/input", O_RDWR | O_CLOEXEC)
            let program = try Program(built: name)
            let noted = "sh -c 'echo $$ > \(folder)/process; exec \"$0\"' '\(program.path)'"
            let command =
                "\(after.isEmpty ? "exec " : "")env -u NO_COLOR \(environment) TERM=screen \(noted) < '\(folder)/input' \(after)"
            let started = try await ask(["-f", "/dev/null", "new-session", "-d", "-x", "40", "-y", "10", command])
            try #require(started.status == 0, "\(started.complaint)")
        }

        deinit {
            close(input)
            _ = try? FileManager.default.removeItem(atPath: folder)
        }

        func ask(_ arguments: [String]) async throws -> Program.Output {
            try await tmux.run(["-u", "-S", folder + "/socket"] + arguments)
        }

        /// The program's process ID; nil before it has started.
        var process: pid_t? {
            let text = try? String(contentsOfFile: folder + "/process", encoding: .utf8)
            return text.flatMap { $0.hasSuffix("\n") ? pid_t($0.dropLast()) : nil }
        }

        func end() async { _ = try? await ask(["kill-server"]) }

        func tell(_ line: String) {
            _ = Array((line + "\n").utf8).withUnsafeBytes { write(input, $0.baseAddress, $0.count) }
        }

        /// Returns the lines of the screen, with a star for the spinner's symbol.
        func lines() async throws -> [String] {
            let text = try await ask(["capture-pane", "-p"]).text
            let signs: Set<Character> = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"]
            var lines = String(text.map { signs.contains($0) ? "*" : $0 }).split(
                separator: "\n", omittingEmptySubsequences: false
            ).map(String.init)
            while lines.last?.isEmpty == true { lines.removeLast() }
            return lines
        }

        func shows(_ expected: [String], _ sourceLocation: SourceLocation = #_sourceLocation) async throws {
            var seen: [String] = []
            let end = ContinuousClock.now + .seconds(300)
            while ContinuousClock.now < end {
                seen = try await lines()
                if seen == expected { return }
                try await Task.sleep(for: .milliseconds(20))
            }
            #expect(seen == expected, sourceLocation: sourceLocation)
        }
    }

    @Test(
        "the terminal shows label, progress and number, lines above, a truncated label, and a cleared line at the end")
    func screen() async throws {
        let screen = try await Screen()
        do {
            screen.tell("show Fetching the feed…")
            try await screen.shows(["* Fetching the feed…"])
            screen.tell("print 42 files are new")
            try await screen.shows(["42 files are new", "* Fetching the feed…"])
            screen.tell("progress 0.5 1")
            try await screen.shows(["42 files are new", "* Fetching the feed… 50 %"])
            screen.tell("progress 1 3")
            try await screen.shows(["42 files are new", "* Fetching the feed… 100 % (3)"])
            screen.tell("print a line that is exactly forty columns wide")
            try await screen.shows(
                ["42 files are new", "a line that is exactly forty columns wid", "e", "* Fetching the feed… 100 % (3)"])
            screen.tell("show a label that is a good deal longer than the terminal is wide")
            try await screen.shows(
                [
                    "42 files are new", "a line that is exactly forty columns wid", "e",
                    "* a label that is a good deal longer th",
                ])
            screen.tell("show 読み込み中です、少々お待ちください。もうすぐ終わります。")
            try await screen.shows(
                ["42 files are new", "a line that is exactly forty columns wid", "e", "* 読み込み中です、少々お待ちください。"])
            screen.tell("show " + String(repeating: "⭐", count: 30))
            try await screen.shows(
                [
                    "42 files are new", "a line that is exactly forty columns wid", "e",
                    "* " + String(repeating: "⭐", count: 18),
                ])
            screen.tell("print done")
            screen.tell("hide")
            try await screen.shows(["42 files are new", "a line that is exactly forty columns wid", "e", "done"])
        } catch {
            await screen.end()
            throw error
        }
        await screen.end()
    }

    @Test(
        "errand-watch leaves no spinner on the terminal, at its end or when interrupted",
        arguments: [nil, SIGINT, SIGTERM])
    func watch(signal: Int32?) async throws {
        // On a loaded machine the program may end before the signal arrives; then the test starts it again.
        for _ in 0..<20 {
            let lines = try await linesAtEnd(signal: signal)
            if signal != nil, lines.contains("ended 0") { continue }
            let status = signal.map { 128 + $0 } ?? 0
            #expect(lines.contains("ended \(status)"), "\(lines)")
            #expect(!lines.contains { $0.contains("*") }, "\(lines)")
            return
        }
        Issue.record("the program always ended before the signal")
    }

    /// Returns the screen after the program has ended, either by itself or by a signal during its work.
    private func linesAtEnd(signal: Int32?) async throws -> [String] {
        let screen = try await Screen(program: "errand-watch", then: "; echo ended $?; sleep 60")
        var lines: [String] = []
        var hasEnded: Bool { lines.contains { $0.hasPrefix("ended ") } }
        do {
            if let signal {
                // The program is stopped while the screen is read, so it can't end between the check and the signal.
                try await eventually {
                    guard let process = screen.process else { return false }
                    kill(process, SIGSTOP)
                    defer { kill(process, SIGCONT) }
                    lines = try await screen.lines()
                    let works = lines.contains { $0.hasPrefix("* Opening") }
                    if works { kill(process, signal) }
                    return hasEnded || works
                }
            }
            try await eventually {
                lines = try await screen.lines()
                return hasEnded
            }
        } catch {
            await screen.end()
            throw error
        }
        await screen.end()
        return lines
    }

    @Test("colored unless NO_COLOR is set", arguments: ["", "NO_COLOR=1"])
    func colors(environment: String) async throws {
        let screen = try await Screen(environment)
        screen.tell("show x")
        try await screen.shows(["* x"])
        let raw = try await screen.ask(["capture-pane", "-p", "-e"]).text
        #expect(raw.contains("\u{1B}[36m") == environment.isEmpty)
        await screen.end()
    }

    @Test("only lines without control characters are written to a file or a pipe")
    func piped() async throws {
        let input = NSTemporaryDirectory() + "/errand-spinner-\(UUID().uuidString)"
        defer { unlink(input) }
        try "show x\nprint one\nprogress 0.5 2\nprint two…\nhide\nprint three\n".write(
            toFile: input, atomically: true, encoding: .utf8)
        let program = try Program(built: "errand-spinner")
        let expected = "one\ntwo…\nthree\n"
        let file = try await program.run([], input: input)
        #expect(file.status == 0 && file.complaint == expected && file.text.isEmpty)
        let shell = try #require(Program("sh"))
        let pipe = try await shell.run(["-c", "'\(program.path)' 2>&1 | cat"], input: input)
        #expect(pipe.status == 0 && pipe.text == expected && pipe.complaint.isEmpty)
    }
}
#endif

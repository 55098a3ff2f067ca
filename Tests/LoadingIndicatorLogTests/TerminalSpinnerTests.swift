import Errand
import ErrandTesting
import Testing

@testable import ErrandLoadingIndicatorLog

@Suite(.leakChecked) struct TerminalSpinnerTests {
    private let written = Log<String>()
    private let time = ManualTimeSource()

    private func spinner(isTerminal: Bool = true, isColored: Bool = false, columns: Int = 80) -> TerminalSpinner {
        TerminalSpinner(
            TerminalSpinner.Terminal(
                isTerminal: isTerminal, isColored: isColored, columns: { columns },
                write: { [written] in written.add($0) }),
            time)
    }

    @Test("it is drawn, turns, makes room for lines, and leaves no trace")
    func life() async throws {
        let spinner = spinner()
        spinner.present(LoadingState(isShown: true, label: "Loading…", running: 2, fraction: 0.456))
        #expect(written.all == ["\r⠋ Loading… 45 % (2)\u{1B}[K"])
        try await time.waitForSleepers()
        time.advance(by: .milliseconds(100))
        try await eventually { written.all.count == 2 }
        #expect(written.all.last == "\r⠙ Loading… 45 % (2)\u{1B}[K")
        spinner.print("a line")
        #expect(written.all.suffix(3) == ["\r\u{1B}[K", "a line\n", "\r⠙ Loading… 45 % (2)\u{1B}[K"])
        spinner.present(.hidden)
        #expect(written.all.last == "\r\u{1B}[K")
        let count = written.all.count
        try await eventually { time.sleeperCount == 0 }
        time.advance(by: .seconds(1))
        #expect(written.all.count == count)
    }

    @Test("a finished spinner has cleared its line, isn't drawn again, and still writes lines")
    func finished() async throws {
        let spinner = spinner()
        spinner.present(LoadingState(isShown: true, label: "Loading…", running: 1))
        spinner.finish()
        #expect(written.all.last == "\r\u{1B}[K")
        spinner.present(LoadingState(isShown: true, label: "Loading…", running: 1))
        spinner.print("a line")
        #expect(written.all.count == 3 && written.all.last == "a line\n")
        try await eventually { time.sleeperCount == 0 }
        spinner.finish()
        #expect(written.all.count == 3)
    }

    @Test("if the output isn't a terminal, only lines are written, without control characters")
    func pipe() {
        let spinner = spinner(isTerminal: false)
        spinner.present(LoadingState(isShown: true, label: "Loading…", running: 1))
        spinner.print("a line")
        spinner.present(.hidden)
        #expect(written.all == ["a line\n"])
    }

    @Test("a released spinner clears its line")
    func end() {
        var spinner: TerminalSpinner? = spinner()
        spinner?.present(LoadingState(isShown: true, running: 1))
        spinner = nil
        #expect(written.all.last == "\r\u{1B}[K")
    }

    @Test(
        "lines fit the terminal, even with wide characters, and a label can't move the cursor",
        arguments: [
            ("Loading the news", 40, "⠋ Loading the news"), ("Loading the news", 12, "⠋ Loading t"),
            ("正在加载新闻", 9, "⠋ 正在加"), ("⭐✅⌚⭐✅", 9, "⠋ ⭐✅⌚"), ("🇫🇷🇯🇵🇫🇷🇯🇵", 9, "⠋ 🇫🇷🇯🇵🇫🇷"),
            ("❤️❤️❤️❤️", 9, "⠋ ❤️❤️❤️"), ("evil\u{1B}[2J\rlabel\n", 40, "⠋ evil [2J label "), ("narrow", 2, "⠋"),
            ("narrow", 0, "⠋"),
        ])
    func width(label: String, columns: Int, line: String) {
        let state = LoadingState(isShown: true, label: label, running: 1)
        #expect(SpinnerLine.text(state, frame: 0, columns: columns, isColored: false) == line)
    }

    @Test("invalid fractions don't trap", arguments: [Double.nan, .infinity, -1, 7])
    func fractions(fraction: Double) {
        let state = LoadingState(isShown: true, running: 1, fraction: fraction)
        let line = SpinnerLine.text(state, frame: 0, columns: 80, isColored: false)
        #expect(["⠋ Loading…", "⠋ Loading… 0 %", "⠋ Loading… 100 %"].contains(line))
        var timeline = LoadingTimeline(delay: .zero, minimum: .zero, interval: .zero, label: nil)
        let id = NetworkAgent(baseURL: base, transport: .stub(.text("ok"))).start(Get()).activity.id
        timeline.start(id, parent: nil, label: nil, counts: true)
        timeline.progress(id, TransferProgress(fraction: fraction))
        timeline.advance(to: .zero)
        #expect(timeline.presented.fraction.map { $0 >= 0 && $0 <= 1 } ?? !fraction.isFinite)
    }

    @Test("color is used only if it's wanted")
    func colour() {
        let state = LoadingState(isShown: true, label: "Loading…", running: 1)
        #expect(SpinnerLine.text(state, frame: 1, columns: 80, isColored: true) == "\u{1B}[36m⠙\u{1B}[0m Loading…")
        #expect(!SpinnerLine.text(state, frame: 1, columns: 80, isColored: false).contains("\u{1B}"))
    }
}

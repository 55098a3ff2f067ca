public import Errand
import ErrandPlatform
import ErrandSupport
import Synchronization

/// A presenter that shows a spinner and the progress on the terminal's last line.
///
/// ```swift
/// let spinner = TerminalSpinner()
/// let indicator = LoadingIndicator(spinner, label: "Fetching the feed…")
/// spinner.print("a line of a log")       // above the spinner
/// spinner.finish()                       // before the program ends
/// ```
///
/// The spinner writes to standard error by default, so standard output contains only your program's results. It cuts
/// its line to the terminal's width. While the spinner is visible, use ``print(_:)`` to print other lines.
///
/// The spinner isn't drawn if the output isn't a terminal, or if `TERM` is `dumb`. It has no color if `NO_COLOR` is set
/// and not empty (no-color.org).
public final class TerminalSpinner: LoadingPresenter {
    struct Terminal: Sendable {
        var isTerminal: Bool
        var isColored: Bool
        var columns: @Sendable () -> Int
        var write: @Sendable (String) -> Void
    }

    private struct State {
        var shown = LoadingState.hidden
        var frame = 0
        var isDrawn = false
        var isFinished = false
        var animation: Task<Void, Never>?
    }

    private let terminal: Terminal
    private let time: any TimeSource
    private let state = Mutex(State())

    /// Creates a spinner.
    ///
    /// - Parameters:
    ///   - descriptor: The terminal's file descriptor. Defaults to standard error.
    ///   - time: The clock for the animation, which shows ten frames per second.
    public convenience init(descriptor: Int32 = 2, time: some TimeSource = SystemTimeSource()) {
        self.init(Terminal(descriptor), time)
    }

    init(_ terminal: Terminal, _ time: any TimeSource) {
        self.terminal = terminal
        self.time = time
    }

    deinit {
        let stale = state.withLock { state in
            erase(&state)
            return state.animation
        }
        stale?.cancel()
    }

    /// Draws, animates or erases the spinner, depending on the state.
    public func present(_ new: LoadingState) {
        guard terminal.isTerminal else { return }
        let stale = state.withLock { state -> Task<Void, Never>? in
            guard !state.isFinished else { return nil }
            state.shown = new
            if new.isShown {
                draw(&state)
                if state.animation == nil { state.animation = animate() }
                return nil
            }
            defer { state.animation = nil }
            erase(&state)
            return state.animation
        }
        // The timer is cancelled after unlocking, because cancelling runs the time source's code.
        stale?.cancel()
    }

    /// Erases the spinner permanently. You can still print lines. You can call this method from any thread.
    public func finish() {
        let stale = state.withLock { state in
            state.isFinished = true
            state.shown = .hidden
            erase(&state)
            return state.animation.take()
        }
        stale?.cancel()
    }

    /// Writes a line above the spinner. If the output isn't a terminal, writes only the line.
    public func print(_ line: String) {
        state.withLock { state in
            erase(&state)
            terminal.write(line + "\n")
            if state.shown.isShown, terminal.isTerminal { draw(&state) }
        }
    }

    private func animate() -> Task<Void, Never> {
        Task { [time, weak self] in
            while !Task.isCancelled {
                do { try await time.sleep(until: time.now.advanced(by: .milliseconds(100))) } catch { return }
                self?.state.withLock { state in
                    guard state.shown.isShown, !Task.isCancelled else { return }
                    state.frame += 1
                    self?.draw(&state)
                }
            }
        }
    }

    private func draw(_ state: inout State) {
        let line = SpinnerLine.text(
            state.shown, frame: state.frame, columns: terminal.columns(), isColored: terminal.isColored)
        terminal.write("\r\(line)\u{1B}[K")
        state.isDrawn = true
    }

    private func erase(_ state: inout State) {
        if state.isDrawn { terminal.write("\r\u{1B}[K") }
        state.isDrawn = false
    }
}

extension LoadingPresenter where Self == TerminalSpinner {
    /// Creates a spinner on standard error.
    public static func terminal() -> TerminalSpinner { TerminalSpinner() }
}

extension TerminalSpinner.Terminal {
    init(_ descriptor: Int32) {
        self.init(
            isTerminal: isatty(descriptor) == 1 && environmentVariable("TERM") != "dumb",
            isColored: (environmentVariable("NO_COLOR") ?? "").isEmpty,
            columns: { SystemQueries.columns(of: descriptor) ?? 80 },
            write: { DescriptorText.put($0, descriptor) })
    }
}

enum SpinnerLine {
    static let frames = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"]

    /// Returns the spinner's line. Leaves the terminal's last column free, because some terminals would otherwise wrap
    /// the line.
    static func text(_ state: LoadingState, frame: Int, columns: Int, isColored: Bool) -> String {
        var words = [clean(state.label ?? "Loading…")]
        if let fraction = state.fraction, fraction.isFinite {
            words.append("\(Int(min(max(fraction, 0), 1) * 100)) %")
        }
        if state.running > 1 { words.append("(\(state.running))") }
        let sign = frames[frame % frames.count]
        let rest = cut(" " + words.joined(separator: " "), to: columns - 2)
        return (isColored ? "\u{1B}[36m\(sign)\u{1B}[0m" : sign) + rest
    }

    /// Removes control characters, because they could move the cursor.
    static func clean(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.map { isControl($0) ? " " : $0 }))
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: true
        default: false
        }
    }

    private static func cut(_ text: String, to columns: Int) -> String {
        var result = ""
        var used = 0
        for character in text {
            used += width(character)
            if used > columns { break }
            result.append(character)
        }
        return result
    }

    private static func width(_ character: Character) -> Int {
        guard let first = character.unicodeScalars.first else { return 0 }
        // A variation selector turns a character into emoji, which some terminals show in a single column. The width
        // counts as two columns anyway. The line may then be cut too early, but it isn't wrapped. A wrapped line
        // couldn't be erased.
        if first.properties.isEmojiPresentation || character.unicodeScalars.contains("\u{FE0F}") { return 2 }
        switch first.value {
        case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60,
            0xFFE0...0xFFE6, 0x1F300...0x1FAFF, 0x20000...0x3FFFD:
            return 2
        default: return 1
        }
    }
}

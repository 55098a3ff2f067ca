import Dispatch
import Errand
import ErrandEssentials
import Foundation
import Synchronization

/// A parser on a thread of its own, since it blocks while it waits for bytes. Its reader and it take turns: one gives bytes,
/// the other returns the events of those.
final class ParserThread: Sendable {
    /// What came of some bytes.
    struct Turn: Sendable {
        var events: [XMLEvent] = []
        /// The place behind the bytes.
        var line = 1
        var column = 1
        /// Whether the document has ended.
        var isOver = false
        /// Why it has ended early.
        var error: XMLError?
    }

    private struct State {
        var hasStarted = false
        var isCancelled = false
        /// The bytes to parse next; nil at the end of the document.
        var input: Data??
        var reader: CheckedContinuation<Turn, Never>?
    }

    private let charset: String?
    private let limits: XMLLimits
    private let state = Mutex(State())
    private let wakeUp = DispatchSemaphore(value: 0)

    init(charset: String?, limits: XMLLimits) { (self.charset, self.limits) = (charset, limits) }

    /// Parses the next bytes of the document; nil is its end. Not called again after an end.
    func parse(_ bytes: Data?) async -> Turn {
        await withCheckedContinuation { continuation in
            let isFirst = state.withLock { state in
                state.input = .some(bytes)
                state.reader = continuation
                defer { state.hasStarted = true }
                return !state.hasStarted
            }
            if isFirst { start() } else { wakeUp.signal() }
        }
    }

    /// Ends the thread.
    func cancel() {
        state.withLock { $0.isCancelled = true }
        wakeUp.signal()
    }

    private func start() {
        let thread = Thread { [self] in run() }
        thread.name = "errand-xml"
        thread.start()
    }

    private func run() {
        let parser = DocumentParser(charset: charset, limits: limits) { parser in
            self.wait { Turn(events: parser.takeEvents(), line: parser.place.line, column: parser.place.column) }
        }
        var last = Turn(isOver: true)
        do throws(XMLError) { try parser.run() } catch { last.error = error }
        last.events = parser.takeEvents()
        (last.line, last.column) = parser.place
        state.withLock { $0.reader.take() }?.resume(returning: last)
    }

    /// Hands over the events, and waits for the next bytes.
    private func wait(_ turn: () -> Turn) -> Data? {
        while true {
            let (input, reader) = state.withLock { state -> (Data??, CheckedContinuation<Turn, Never>?) in
                if state.isCancelled { return (.some(nil), nil) }
                if let input = state.input.take() { return (input, nil) }
                return (nil, state.reader.take())
            }
            if let input { return input }
            reader?.resume(returning: turn())
            wakeUp.wait()
        }
    }
}

import Synchronization

/// Takes events from any thread, one at a time, and writes the format's output.
final class Reporter: Sendable {
    private struct State {
        var format: any ReportFormat
        var isOver = false
    }

    private let state: Mutex<State>
    private let output: Descriptor
    private let error: Descriptor

    init(_ format: any ReportFormat, output: Descriptor = .output, error: Descriptor = .error) {
        state = Mutex(State(format: format))
        (self.output, self.error) = (output, error)
    }

    func report(_ event: ReportEvent, of item: ReportItem) {
        show { $0.texts(for: event, of: item, at: .now) }
    }

    func message(_ text: String) { show { $0.message(text) } }

    var isAnimated: Bool { state.withLock { $0.format.isAnimated } }
    func tick() { show { $0.tick(at: .now) } }

    /// Writes the final output. Later events are ignored.
    func end(complete: Int, failed: Int, status: ExitStatus) {
        show { $0.end(complete: complete, failed: failed, status: status) }
        state.withLock { $0.isOver = true }
    }

    private func show(_ texts: (inout any ReportFormat) -> [ReportText]) {
        // Under the lock, to keep lines from mixing. If the reader of the output goes away, keep downloading.
        state.withLock { state in
            if state.isOver { return }
            for text in texts(&state.format) where !text.text.isEmpty {
                _ = (text.stream == .output ? output : error).write(Array(text.text.utf8))
            }
        }
    }
}

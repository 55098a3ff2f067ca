import Errand
import ErrandEssentials
import ErrandSupport
import Synchronization

/// Writes a jar's file shortly after responses change it, one write at a time for all pending changes.
final class CookieWriter: Sendable {
    private struct State {
        var written: UInt64
        var work: Task<Void, Never>?
        var time: (any TimeSource)?
        var failure: CookieFileError?
        var hasEnded = false
    }

    static let delay = Duration.seconds(1)

    private let contents: CookieContents
    private let file: CookieFile
    private let state: Mutex<State>
    private let hasFailed = Atomic(false)
    /// A lock that is held during a write, so only one write runs at a time.
    private let turn = Mutex(())

    /// Creates a writer.
    ///
    /// - Parameter contents: The cookies that the file already contains.
    init(_ file: CookieFile, _ contents: CookieContents) {
        (self.file, self.contents) = (file, contents)
        state = Mutex(State(written: contents.version))
        ExitHook.add(self)
    }

    /// Plans a write if cookies have changed. The task doesn't retain the jar, which can be released meanwhile.
    func plan(by time: any TimeSource) {
        let former = state.withLock { state -> (any TimeSource)? in
            if state.written == contents.version || state.work != nil || state.hasEnded { return nil }
            let former = state.time
            state.time = time
            state.work = Task.detached { await self.work(time) }
            return former
        }
        withExtendedLifetime(former) {}
    }

    private func work(_ time: any TimeSource) async {
        while true {
            try? await time.sleep(until: time.now + Self.delay)
            if Task.isCancelled { return }
            let version = contents.version
            do throws(CookieFileError) { try write(at: time.date) } catch {
                state.withLock { $0.failure = error }
                hasFailed.store(true, ordering: .releasing)
            }
            if hasFinished(version) { return }
        }
    }

    /// Returns the error of a failed write, but each error only once.
    func takeFailure() -> CookieFileError? {
        guard hasFailed.load(ordering: .acquiring) else { return nil }
        hasFailed.store(false, ordering: .relaxed)
        return state.withLock { state in
            defer { state.failure = nil }
            return state.failure
        }
    }

    /// Returns whether the task can end, because the cookies haven't changed since the version.
    private func hasFinished(_ version: UInt64) -> Bool {
        let (isDone, work) = state.withLock { state -> (Bool, Task<Void, Never>?) in
            if contents.version != version { return (false, nil) }
            let work = state.work
            state.work = nil
            return (true, work)
        }
        return withExtendedLifetime(work) { isDone }
    }

    /// Writes the cookies if they have changed. Blocks the thread.
    func write(at date: Date) throws(CookieFileError) {
        let result = turn.withLock { _ -> Result<Void, CookieFileError> in
            let (cookies, version) = contents.snapshot
            if state.withLock({ $0.written == version }) { return .success(()) }
            return Result { () throws(CookieFileError) in
                try file.write(cookies, at: date)
                state.withLock { $0.written = version }
            }
        }
        try result.get()
    }

    /// Writes the last changes and ignores failures. Blocks the thread.
    func writeLast() {
        let time = state.withLock { $0.time }
        try? write(at: time?.date ?? Date())
    }

    /// Ends the writer and writes the last changes. Call it when the jar is released. Blocks the thread.
    func end() {
        ExitHook.remove(self)
        let work = state.withLock { state in
            state.hasEnded = true
            return state.work
        }
        work?.cancel()
        writeLast()
    }
}

/// Writes pending changes when the process ends by `exit` or by returning from `main`.
private enum ExitHook {
    private static let writers = Mutex<[ObjectIdentifier: CookieWriter]>([:])
    private static let isInstalled: Bool = atexit { ExitHook.run() } == 0

    static func add(_ writer: CookieWriter) {
        _ = isInstalled
        writers.withLock { $0[ObjectIdentifier(writer)] = writer }
    }

    static func remove(_ writer: CookieWriter) {
        let removed = writers.withLock { $0.removeValue(forKey: ObjectIdentifier(writer)) }
        withExtendedLifetime(removed) {}
    }

    private static func run() {
        let all = writers.withLock { Array($0.values) }
        for writer in all { writer.writeLast() }
    }
}

import Errand
import ErrandEssentials
import ErrandSupport
import Synchronization

/// Writes a jar's file behind the responses that change it: together, soon after, one write at a time.
final class CookieWriter: Sendable {
    private struct State {
        /// The version of the cookies that the file contains.
        var written: UInt64
        /// The work that waits or writes, if there is any.
        var work: Task<Void, Never>?
        /// The clock of the last plan.
        var time: (any TimeSource)?
        /// Why the last planned write has failed, until that is noted.
        var failure: CookieFileError?
        var hasEnded = false
    }

    /// The time from a change to the write that contains it, with all that changes meanwhile.
    static let delay = Duration.seconds(1)

    private let contents: CookieContents
    private let file: CookieFile
    private let state: Mutex<State>
    private let hasFailed = Atomic(false)
    /// Held by the write that is under way.
    private let turn = Mutex(())

    /// - Parameter contents: what the file contains already.
    init(_ file: CookieFile, _ contents: CookieContents) {
        (self.file, self.contents) = (file, contents)
        state = Mutex(State(written: contents.version))
        ExitHook.add(self)
    }

    /// Plans a write, unless there is one already or nothing to write. The next plan repeats a write that has failed.
    ///
    /// The work keeps neither the jar nor an exchange, so that the jar can end while it waits.
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

    /// The reason why a planned write has failed, once; nil where none has.
    func takeFailure() -> CookieFileError? {
        guard hasFailed.load(ordering: .acquiring) else { return nil }
        hasFailed.store(false, ordering: .relaxed)
        return state.withLock { state in
            defer { state.failure = nil }
            return state.failure
        }
    }

    /// Whether nothing has changed since a version; then the next change plans anew.
    private func hasFinished(_ version: UInt64) -> Bool {
        let (isDone, work) = state.withLock { state -> (Bool, Task<Void, Never>?) in
            if contents.version != version { return (false, nil) }
            let work = state.work
            state.work = nil
            return (true, work)
        }
        return withExtendedLifetime(work) { isDone }
    }

    /// Writes what the file does not contain yet. Blocks.
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

    /// Writes what is outstanding when the process ends. Blocks.
    func writeLast() {
        let time = state.withLock { $0.time }
        try? write(at: time?.date ?? Date())
    }

    /// Writes what is outstanding, and ends the work: the jar is gone. Blocks.
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

/// Has the writers of all jars write what is outstanding when the process ends by `exit` or by returning from `main`.
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

import ErrandHTTP
import Synchronization

/// The data that a call collects: checks, staged work, filters' values and counters. Belongs to an activity, or to an
/// exchange that several calls share.
struct CallLedger: ~Copyable, Sendable {
    // Not private, because the compiler needs the layout wherever a ledger is stored.
    struct State {
        var isClosed = false
        var lastSent: HTTPRequest?
        var checks: [ResponseCheck] = []
        var staged: [StagedWork] = []
        var bodies: [WeakBody] = []
        var values = CallValues()
    }

    private let state = Mutex(State())
    /// Whether the ledger has checks or staged work. Set under the state's lock. While this is false, readers skip the
    /// lock.
    private let isMarked = Atomic(false)
    private let attempts = Atomic(0)
    private let transfers = Atomic(0)
    private let finalFailures = Atomic(0)
    private let deliveries = Atomic(0)

    // Methods release replaced values outside the lock, because releasing a user's object can run its code.

    // MARK: Checks and staged work

    func add(_ check: ResponseCheck) {
        let old = state.withLock { state in
            let old = state.checks
            state.checks = old.filter { $0.name != check.name } + [check]
            isMarked.store(true, ordering: .releasing)
            return old
        }
        withExtendedLifetime(old) {}
    }

    var checks: [ResponseCheck] { isMarked.load(ordering: .acquiring) ? state.withLock { $0.checks } : [] }

    func stage(_ work: StagedWork) {
        let isTooLate = state.withLock { state in
            if !state.isClosed { state.staged.append(work) }
            isMarked.store(true, ordering: .releasing)
            return state.isClosed
        }
        if isTooLate { Task { await work.discard() } }
    }

    var hasStagedWork: Bool { stagedWorkCount > 0 }

    var stagedWorkCount: Int { isMarked.load(ordering: .acquiring) ? state.withLock { $0.staged.count } : 0 }

    func takeStagedWork(after count: Int = 0) -> [StagedWork] {
        state.withLock { state in
            let taken = state.staged.dropFirst(count)
            state.staged.removeLast(taken.count)
            return Array(taken)
        }
    }

    func sealIfNothingIsStaged() -> Bool {
        state.withLock { state in
            if state.staged.isEmpty { state.isClosed = true }
            return state.isClosed
        }
    }

    func sealStagedWork() -> [StagedWork] {
        state.withLock { state in
            defer { (state.staged, state.isClosed) = ([], true) }
            return state.staged
        }
    }

    // MARK: Sent and received messages

    var lastSent: HTTPRequest? { state.withLock { $0.lastSent } }

    func willSend(_ request: HTTPRequest) {
        let old = state.withLock { state in
            let old = state.lastSent
            if !state.isClosed { state.lastSent = request }
            return old
        }
        withExtendedLifetime(old) {}
    }

    /// Remembers a body without keeping it alive, so the body's transfer can be cancelled if the call fails later.
    func watch(_ body: HTTPBody) {
        let readers = state.withLock { state in
            let readers = state.bodies.compactMap(\.reader)
            state.bodies = readers.map { WeakBody($0) } + [WeakBody(body.reader)]
            return readers
        }
        withExtendedLifetime(readers) {}
    }

    func close(cancelsBodies: Bool) {
        let left = state.withLock { state in
            var left = State(isClosed: true)
            swap(&left.values, &state.values)
            swap(&left, &state)
            return left
        }
        if cancelsBodies { for body in left.bodies { body.reader?.cancel() } }
        let staged = left.staged
        if !staged.isEmpty { Task { await staged.discard() } }
        withExtendedLifetime(left) {}
    }

    // MARK: The values of filters

    func value(_ number: UInt64) -> (any Sendable)? { state.withLock { $0.values[number] } }

    func add(_ value: any Sendable, for number: UInt64) -> (any Sendable)? {
        state.withLock { state in
            let known = state.values[number]
            if known == nil { state.values.add(value, for: number) }
            return known
        }
    }

    /// Copies the filters' values from another call, for work that outlives that call.
    func adoptValues(of other: borrowing CallLedger) {
        let values = other.state.withLock { $0.values }
        state.withLock { $0.values = values }
    }

    // MARK: Counters

    func countAttempt() -> Int { attempts.add(1, ordering: .relaxed).newValue }
    func countTransfer() -> Int { transfers.add(1, ordering: .relaxed).newValue }
    var transferCount: Int { transfers.load(ordering: .relaxed) }

    var finalFailureCount: Int { finalFailures.load(ordering: .acquiring) }
    func markFailureAsFinal() { finalFailures.add(1, ordering: .acquiringAndReleasing) }

    var possiblyReceivedCount: Int { deliveries.load(ordering: .acquiring) }
    func addDeliveries(_ count: Int) { deliveries.add(count, ordering: .acquiringAndReleasing) }
}

struct StagedWork: Sendable {
    let commit: @Sendable () async -> Void
    let discard: @Sendable () async -> Void
}

extension [StagedWork] {
    func commit() async { for work in self { await work.commit() } }

    func discard() async { for work in self { await work.discard() } }
}

// Kept out of line, because inlining would enlarge the async frame of every request.
extension Activity {
    @inline(never) func commitStagedWork() async { await ledger.takeStagedWork().commit() }

    @inline(never) func discardStagedWork() async { await ledger.takeStagedWork().discard() }
}

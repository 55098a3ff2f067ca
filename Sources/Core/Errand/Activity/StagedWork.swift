/// Work that waits until the response is accepted or rejected.
struct StagedWork: Sendable {
    let commit: @Sendable () async -> Void
    let discard: @Sendable () async -> Void
}

extension [StagedWork] {
    func commit() async { for work in self { await work.commit() } }

    func discard() async { for work in self { await work.discard() } }
}

// Kept out of line: inlining would enlarge the async frame of every request.
extension Activity {
    @inline(never) func commitStagedWork() async { await ledger.takeStagedWork().commit() }

    @inline(never) func discardStagedWork() async { await ledger.takeStagedWork().discard() }
}

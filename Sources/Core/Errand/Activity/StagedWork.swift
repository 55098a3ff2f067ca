/// Work that waits until the response is accepted or refused.
struct StagedWork: Sendable {
    let commit: @Sendable () async -> Void
    let discard: @Sendable () async -> Void
}

extension [StagedWork] {
    func commit() async { for work in self { await work.commit() } }

    func discard() async { for work in self { await work.discard() } }
}

// Not in line, where they would enlarge the frame of every request.
extension Activity {
    @inline(never) func commitStagedWork() async { await ledger.takeStagedWork().commit() }

    @inline(never) func discardStagedWork() async { await ledger.takeStagedWork().discard() }
}

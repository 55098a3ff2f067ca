/// How an activity ended, and the error of it.
struct Settlement: Sendable {
    var failure: (any Error)?
    var outcome: ActivityOutcome
}

/// Something to keep if the response is accepted.
struct StagedWork: Sendable {
    let commit: @Sendable () async -> Void
    let discard: @Sendable () async -> Void
}

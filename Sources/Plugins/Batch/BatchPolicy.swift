import Errand

/// A policy that decides when a batch succeeds, and what the batch returns: `.failFast`, `.collectAll` or
/// `.firstSuccess`.
public struct BatchPolicy<Part: Sendable, Success: Sendable>: Sendable {
    let rule: BatchRule
    let gather: @Sendable (BatchOutcomes<Part>) throws -> Success
    let responses: @Sendable (Success) -> [Part]

    func cached(_ success: Success, _ http: (Part) -> HTTPResponse?) -> CacheShare {
        let parts = responses(success)
        return CacheShare(parts.count { http($0)?.source.isStored == true }, of: parts.count)
    }
}

extension BatchPolicy where Success == [Part] {
    /// All parts must succeed, and the output contains the outputs of all parts, in order. If a part fails, the batch
    /// cancels the other parts and throws ``BatchError``. This is the default.
    public static var failFast: BatchPolicy {
        BatchPolicy(rule: .failFast, gather: { try $0.successes() }, responses: { $0 })
    }
}

extension BatchPolicy where Success == [Result<Part, any Error>] {
    /// All parts run, even if some fail. The output contains the results of all parts, in order. The batch throws only
    /// if it's cancelled.
    public static var collectAll: BatchPolicy {
        BatchPolicy(rule: .collectAll, gather: { try $0.all() }, responses: { $0.compactMap { try? $0.get() } })
    }
}

extension BatchPolicy where Success == (index: Int, response: Part) {
    /// The batch ends with the first part that succeeds, and cancels the other parts. If all parts fail or the batch is
    /// empty, the batch throws ``BatchError``.
    public static var firstSuccess: BatchPolicy {
        BatchPolicy(rule: .firstSuccess, gather: { try $0.winner() }, responses: { [$0.response] })
    }
}

enum BatchRule: Sendable {
    case failFast, collectAll, firstSuccess
}

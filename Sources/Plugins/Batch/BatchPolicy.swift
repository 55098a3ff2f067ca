import Errand

/// How a batch makes its output from the results of its parts: `.failFast`, `.collectAll` or `.firstSuccess`.
public struct BatchPolicy<Part: Sendable, Success: Sendable>: Sendable {
    let rule: BatchRule
    let gather: @Sendable (BatchOutcomes<Part>) throws -> Success
    /// The parts that an output consists of.
    let responses: @Sendable (Success) -> [Part]

    func cached(_ success: Success, _ http: (Part) -> HTTPResponse?) -> CacheShare {
        let parts = responses(success)
        return CacheShare(parts.count { http($0)?.source.isStored == true }, of: parts.count)
    }
}

extension BatchPolicy where Success == [Part] {
    /// All parts must succeed: the first failure cancels the rest and is thrown as ``BatchError``, which names the part.
    /// The outputs are in the order of the parts. The default.
    public static var failFast: BatchPolicy {
        BatchPolicy(rule: .failFast, gather: { try $0.successes() }, responses: { $0 })
    }
}

extension BatchPolicy where Success == [Result<Part, any Error>] {
    /// All run, whether they succeed or fail; the results are in the order of the parts. Only a cancellation of
    /// the whole is thrown.
    public static var collectAll: BatchPolicy {
        BatchPolicy(rule: .collectAll, gather: { try $0.all() }, responses: { $0.compactMap { try? $0.get() } })
    }
}

extension BatchPolicy where Success == (index: Int, response: Part) {
    /// One is enough: the first success cancels the rest. If none succeeds, and so in an empty batch, ``BatchError``
    /// with the failures is thrown.
    public static var firstSuccess: BatchPolicy {
        BatchPolicy(rule: .firstSuccess, gather: { try $0.winner() }, responses: { [$0.response] })
    }
}

enum BatchRule: Sendable {
    case failFast, collectAll, firstSuccess
}

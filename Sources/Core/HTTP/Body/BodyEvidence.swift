package import ErrandEssentials

/// The head that a body belongs to and a copy of its first bytes, for the error that may end it.
package struct BodyEvidence: Sendable {
    let request: HTTPRequest
    /// Without its body.
    let response: HTTPResponse
    let limit: Int
    private var bytes = Data()

    package init(_ request: HTTPRequest, _ response: HTTPResponse, limit: Int) {
        (self.request, self.limit) = (request, limit)
        var head = response
        head.body = .empty
        self.response = head
    }

    mutating func add(_ chunk: Data) {
        if bytes.count < limit { bytes.append(chunk.prefix(limit - bytes.count)) }
    }

    /// The same with the bytes of a body in memory.
    package func with(_ data: Data?) -> BodyEvidence {
        var copy = self
        if let data { copy.add(data) }
        return copy
    }

    /// Adds the evidence to a failure of the response; a cancellation needs none, and an error that has evidence keeps
    /// it.
    package func attached(to error: any Error) -> any Error {
        guard var known = error as? ErrandError, !known.isCancelled else { return error }
        known.request = known.request ?? request
        if known.response == nil {
            var partial = response
            partial.body = HTTPBody(bytes)
            known.response = partial
        }
        return known
    }
}

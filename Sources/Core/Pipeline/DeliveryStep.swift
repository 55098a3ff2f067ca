import ErrandHTTP
import ErrandEssentials

/// Brings the body of the final response into the form that the request asks for, whatever filters have made of it.
struct DeliveryStep {
    let request: any Request
    let limit: Int

    init(_ request: any Request, _ configuration: AgentConfiguration) {
        self.request = request
        limit = configuration.maximumBodyBytes
    }

    /// Collects a streamed body where the request wants data. Every copy of the response has the bytes then. A refused
    /// status is left to the evidence of its error.
    func collect(_ response: HTTPResponse) async throws {
        guard request.delivery == .data, request.acceptableStatuses.contains(response.status),
            response.body.data == nil, response.body.file == nil || !isForFile(request)
        else { return }
        try await response.body.gather(upTo: limit)
    }

    /// Where the body is to be written; nil if it stays what it is.
    func filePlace(of response: HTTPResponse) -> URL? {
        guard case .file(let place) = request.delivery, response.body.file?.path != place.path,
            request.acceptableStatuses.contains(response.status)
        else { return nil }
        return place
    }

    /// Whether the output is a file's place, whatever writes the file.
    private func isForFile<R: Request>(_ request: R) -> Bool { R.Output.self == URL.self || R.Output.self == URL?.self }
}

extension HTTPResponse {
    /// The same with a body that was collected as data.
    var inMemory: HTTPResponse {
        guard body.reader != nil, let data = body.data else { return self }
        var copy = self
        copy.body = HTTPBody(data)
        return copy
    }

    /// The same with a body that is read from its beginning, where it is in a file.
    var reopened: HTTPResponse {
        if body.file == nil { return self }
        var copy = self
        copy.body = body.reopened
        return copy
    }
}

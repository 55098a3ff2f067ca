import ErrandHTTP
import ErrandEssentials

/// Brings the body of the final response into the form that the request asks for, whatever filters have made of it.
struct DeliveryStep {
    let request: any Request
    let settings: PipelineSettings

    init(_ request: any Request, _ settings: PipelineSettings) {
        self.request = request
        self.settings = settings
    }

    /// Whether the request wants the body as data, and it is a stream. A refused status is left to the evidence of its
    /// error.
    func isToCollect(_ response: HTTPResponse) -> Bool {
        response.body.data == nil && request.delivery == .data && request.acceptableStatuses.contains(response.status)
            && (response.body.file == nil || !isForFile(request))
    }

    /// Collects a streamed body. Every copy of the response has the bytes then.
    func collect(_ response: HTTPResponse) async throws {
        try await response.body.gather(upTo: settings.configuration.maximumBodyBytes)
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

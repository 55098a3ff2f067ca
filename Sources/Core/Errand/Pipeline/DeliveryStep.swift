import ErrandEssentials
import ErrandHTTP

/// Brings the body of the final response into the form that the request asks for, whatever filters have made of it.
struct DeliveryStep {
    let settings: PipelineSettings

    /// Whether the request wants the body as data, and it is a stream. A refused status is left to the evidence of its
    /// error.
    @inline(never) func isToCollect<R: Request>(_ response: HTTPResponse, for request: R) -> Bool {
        response.body.data == nil && request.delivery == .data && request.acceptableStatuses.contains(response.status)
            && (response.body.file == nil || R.Output.self != URL.self && R.Output.self != URL?.self)
    }

    /// Whether the body of an accepted response is in memory, and was not measured when it arrived.
    @inline(never) func isToMeasure(_ response: HTTPResponse, for request: some Request) -> Bool {
        response.body.data != nil && request.delivery == .data && request.acceptableStatuses.contains(response.status)
    }

    /// Collects a streamed body. Every copy of the response has the bytes then.
    func collect(_ response: HTTPResponse) async throws {
        try await response.body.gather(upTo: settings.maximumBodyBytes)
    }

    /// The file that the body is to become; nil if it stays what it is.
    @inline(never) func destination(of response: HTTPResponse, for request: some Request) -> URL? {
        guard case .file(let destination) = request.delivery, response.body.file?.path != destination.path,
            request.acceptableStatuses.contains(response.status)
        else { return nil }
        return destination
    }

    /// Stores the decoded value in the result, and returns the response, with the file at its destination.
    @inline(never) func store<Output: Sendable>(
        _ value: Output, of response: HTTPResponse, _ file: PendingFile?, to result: ActivityResult
    ) -> HTTPResponse {
        var response = response
        guard let file else {
            result.succeed(value, from: response)
            return response
        }
        response.body = HTTPBody(file: file.destination, length: file.length)
        result.succeed(file.placed(value), from: response)
        return response
    }
}

import ErrandEssentials
import ErrandHTTP

/// Converts the response's body to the form that the request asks for.
struct DeliveryStep {
    let settings: PipelineSettings

    /// A body in a file is collected, unless the output is a URL, because such a request wants the file.
    @inline(never) func isToCollect<R: Request>(_ response: HTTPResponse, for request: R) -> Bool {
        response.body.data == nil && request.delivery == .data && request.acceptableStatuses.contains(response.status)
            && (response.body.file == nil || R.Output.self != URL.self && R.Output.self != URL?.self)
    }

    @inline(never) func isToMeasure(_ response: HTTPResponse, for request: some Request) -> Bool {
        response.body.data != nil && request.delivery == .data && request.acceptableStatuses.contains(response.status)
    }

    func collect(_ response: HTTPResponse) async throws {
        try await response.body.gather(upTo: settings.maximumBodyBytes)
    }

    @inline(never) func destination(of response: HTTPResponse, for request: some Request) -> URL? {
        guard case .file(let destination) = request.delivery, response.body.file?.path != destination.path,
            request.acceptableStatuses.contains(response.status)
        else { return nil }
        return destination
    }

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

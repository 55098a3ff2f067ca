import ErrandHTTP
import ErrandSupport
import ErrandHTTPSyntax

import ErrandEssentials
import Synchronization

/// Hands one request to the transport: the last check before the wire, and the first one after it.
struct WireStep: Filter {
    let transport: any Transport

    var stages: FilterStages { .hop }
    var explanation: String { "transport \(type(of: transport))" }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let activity = exchange.activity
        var request = exchange.http
        request.body = try request.body.resolved(by: exchange.settings.configuration.encoder)
        try request.validate()
        activity.notify(.sending(request, attempt: exchange.attempt, hop: exchange.hop))
        if activity.bodyByteLimit > 0, let data = request.body.data, !data.isEmpty {
            activity.notify(.requestBody(Data(data.prefix(activity.bodyByteLimit))))
        }
        let limit = exchange.settings.configuration.maximumBodyBytes
        let delivery: BodyDelivery = exchange.delivery == .data ? .data : .stream
        var options = TransportOptions(
            timeout: exchange.timeout, delivery: delivery, bodyLimit: limit, priority: exchange.priority,
            tags: exchange.tags, time: exchange.time)
        (options.observer, options.reportsProgress) = (activity, exchange.reportsProgress)
        activity.willSend(request)
        var response = try await transport.send(request, options: options)
        let evidence = BodyEvidence(
            request, response, limit: exchange.settings.configuration.maximumErrorBodyBytes)
        do { response.body = try framed(response, request.method) } catch {
            throw evidence.with(response.body.data).explain(error)
        }
        activity.notify(.received(response.withoutStream, attempt: exchange.attempt, hop: exchange.hop))
        if delivery == .data {
            response.body.reader?.keepEvidence(evidence)
            let data: Data
            do { data = try await response.body.collect(upTo: limit) } catch {
                throw evidence.with(response.body.data).explain(error)
            }
            if activity.bodyByteLimit > 0 { activity.notify(.responseBody(Data(data.prefix(activity.bodyByteLimit)))) }
            response.body = HTTPBody(data)
        } else if response.body.data == nil {
            if activity.bodyByteLimit > 0 { response.body = response.body.observed(by: activity) }
            response.body.reader?.keepEvidence(evidence)
            activity.watch(response.body)
        }
        return response
    }

    /// The body with the length that the head announces (RFC 9110, section 8.6), which it then has to keep.
    private func framed(_ response: HTTPResponse, _ method: HTTPMethod) throws -> HTTPBody {
        let lengths = response.headers.values(of: .contentLength)
        if lengths.isEmpty { return response.body }
        let hasNoBody = method == .head || response.status == 204 || response.status == 304
        if hasNoBody || response.headers.contains(.transferEncoding) { return response.body }
        guard let length = ContentLength.parse(lengths) else {
            response.body.cancel()
            throw ErrandError(.invalidResponse, "the Content-Length of the response is no number")
        }
        guard let data = response.body.data else {
            response.body.reader?.expect(length)
            return response.body
        }
        if Int64(data.count) != length { throw ErrandError.wrongLength(expected: length, received: Int64(data.count)) }
        return response.body
    }
}

extension HTTPBody {
    /// The same stream, its first bytes copied for accessories as it is read.
    fileprivate func observed(by activity: Activity) -> HTTPBody {
        let count = Atomic(0)
        return HTTPBody(length: length, cancel: cancel) {
            guard let chunk = try await nextChunk() else { return nil }
            let before = count.add(chunk.count, ordering: .relaxed).oldValue
            let copy = chunk.prefix(Swift.max(0, activity.bodyByteLimit - before))
            if !copy.isEmpty, !activity.isOver { activity.notify(.responseBody(Data(copy))) }
            return chunk
        }
    }
}

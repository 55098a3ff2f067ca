import ErrandSupport

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import Synchronization

extension FilterChain {
    /// One request on the wire: the last check before it and the first one after it.
    func wire(_ exchange: Exchange) async throws -> HTTPResponse {
        let activity = exchange.activity
        var request = exchange.http
        request.body = try request.body.resolved(by: exchange.settings.configuration.encoder)
        try request.validate()
        activity.tell(.sending(request, attempt: exchange.attempt, hop: exchange.hop))
        if activity.bodyByteLimit > 0, let data = request.body.data, !data.isEmpty {
            activity.tell(.requestBody(Data(data.prefix(activity.bodyByteLimit))))
        }
        let limit = exchange.settings.configuration.maximumBodyBytes
        let delivery: BodyDelivery = exchange.delivery == .data ? .data : .stream
        var options = TransportOptions(
            timeout: exchange.timeout, delivery: delivery, bodyLimit: limit, priority: exchange.priority,
            tags: exchange.tags, time: exchange.time)
        (options.activity, options.reportsProgress) = (activity, exchange.reportsProgress)
        activity.willSend(request)
        var response = try await transport.send(request, options: options)
        let evidence = BodyEvidence(
            request, response, limit: exchange.settings.configuration.maximumErrorBodyBytes)
        do { response.body = try framed(response, request.method) } catch {
            throw evidence.with(response.body.data).explain(error)
        }
        activity.tell(.received(response.forOnlookers, attempt: exchange.attempt, hop: exchange.hop))
        if delivery == .data {
            response.body.reader?.keepEvidence(evidence)
            let data: Data
            do { data = try await response.body.collect(upTo: limit) } catch {
                throw evidence.with(response.body.data).explain(error)
            }
            if activity.bodyByteLimit > 0 { activity.tell(.responseBody(Data(data.prefix(activity.bodyByteLimit)))) }
            response.body = HTTPBody(data)
        } else if response.body.data == nil {
            if activity.bodyByteLimit > 0 { response.body = response.body.told(to: activity) }
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
            throw ErrandError(.invalidResponse, "the Content-Length of the answer is no number")
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
    /// The same stream, its first bytes copied for accessories as they pass.
    fileprivate func told(to activity: Activity) -> HTTPBody {
        let told = Atomic(0)
        return HTTPBody(length: length, cancel: cancel) {
            guard let chunk = try await nextChunk() else { return nil }
            let before = told.add(chunk.count, ordering: .relaxed).oldValue
            let copy = chunk.prefix(Swift.max(0, activity.bodyByteLimit - before))
            if !copy.isEmpty, !activity.isOver { activity.tell(.responseBody(Data(copy))) }
            return chunk
        }
    }
}

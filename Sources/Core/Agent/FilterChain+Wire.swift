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
        request.body = try request.body.resolved()
        try request.validate()
        activity.tell(.sending(request, attempt: exchange.attempt, hop: exchange.hop))
        if activity.bodyByteLimit > 0, let data = request.body.data, !data.isEmpty {
            activity.tell(.requestBody(Data(data.prefix(activity.bodyByteLimit))))
        }
        let limit = exchange.settings.configuration.maximumBodyBytes
        let delivery: BodyDelivery = exchange.delivery == .data ? .data : .stream
        var response = try await transport.send(
            request,
            options: TransportOptions(
                exchange.timeout, delivery, limit, exchange.priority, exchange.tags, exchange.time, activity))
        response.body = try framed(response, request.method)
        activity.tell(.received(response.forOnlookers, attempt: exchange.attempt, hop: exchange.hop))
        if delivery == .data {
            let data = try await response.body.collect(upTo: limit)
            if activity.bodyByteLimit > 0 { activity.tell(.responseBody(Data(data.prefix(activity.bodyByteLimit)))) }
            response.body = HTTPBody(data)
        } else if response.body.data == nil {
            if activity.bodyByteLimit > 0 { response.body = response.body.told(to: activity) }
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
        let numbers = Set(lengths.flatMap { $0.split(separator: ",") }.map { Self.length($0) })
        guard numbers.count == 1, let length = numbers.first.flatMap(\.self) else {
            response.body.cancel()
            throw ErrandError(.invalidResponse, "the Content-Length of the answer is no number", response: nil)
        }
        guard let data = response.body.data else {
            response.body.reader?.expect(length)
            return response.body
        }
        if Int64(data.count) != length { throw ErrandError.wrongLength(expected: length, received: Int64(data.count)) }
        return response.body
    }

    private static func length(_ text: Substring) -> Int64? {
        let text = text.drop { $0 == " " }.prefix { $0 != " " }
        return text.utf8.allSatisfy { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") } ? Int64(text) : nil
    }
}

extension HTTPBody {
    /// The same stream, its first bytes copied for accessories as they pass.
    fileprivate func told(to activity: Activity) -> HTTPBody {
        HTTPBody(length: length, source: ToldBody(self, activity))
    }
}

private final class ToldBody: HTTPBodySource {
    private let body: HTTPBody
    private let activity: Activity
    private let left: Mutex<Int>

    init(_ body: HTTPBody, _ activity: Activity) {
        self.body = body
        self.activity = activity
        left = Mutex(activity.bodyByteLimit)
    }

    func nextChunk() async throws -> Data? {
        guard let chunk = try await body.nextChunk() else { return nil }
        let count = left.withLock { left in
            defer { left = max(0, left - chunk.count) }
            return min(left, chunk.count)
        }
        if count > 0, !activity.isOver { activity.tell(.responseBody(Data(chunk.prefix(count)))) }
        return chunk
    }

    func cancel() { body.cancel() }
}

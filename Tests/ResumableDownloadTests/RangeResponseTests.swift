import Errand
import ErrandResumableDownload
import ErrandTesting
import Foundation
import Testing

@Suite("Every response to a request for the remaining bytes", .leakChecked) struct RangeResponseTests {
    /// The server's behaviour from the second request on, or from the first range request on.
    enum Server: String, CaseIterable, Sendable, CustomTestStringConvertible {
        case honest, ignoresRange, refusesRange412, refusesRange416, noContentRange, wrongStart, wrongTotal, wrongUnit
        case multipart, lyingLength, otherValidator, vanishedValidator, weakValidator, gzipped, shorterParts, longBody
        case shortBody, emptyPart, unknownTotal, unaskedPart, errorOnce, tooManyOnce, resetOnce, lengthOfOther,
            partWithStatus200

        var testDescription: String { rawValue }
    }

    private let folder: Folder
    // Shared, because the servers of all cases respond at the same time.
    private static let film = bytes(1_000_000)
    private static let another = bytes(1_000_000, seed: 9)
    private var film: Data { Self.film }

    init() throws { folder = try Folder() }

    @Test("the file arrives complete and right", arguments: Server.allCases, Wire.allCases)
    func whole(server kind: Server, wire: Wire) async throws {
        for segments in [1, 2, 8] {
            let origin = try Origin(film)
            origin.set { $0.twist = { number, request, response in twist(kind, segments, number, request, response) } }
            let file = folder.file("\(segments)")
            try await agent(origin.server, wire, quick(segments: segments)).send(Get(file))
            #expect(try Data(contentsOf: file) == film, "\(segments) segments")
            #expect(origin.server.requestCount < 40)
            // There are more ranges if the machine is so busy that one segment takes over part of another.
            if segments > 1, kind == .honest { #expect(origin.ranges.count > segments) }
        }
        #expect(folder.names == ["1", "2", "8"])
    }

    private func twist(
        _ kind: Server, _ segments: Int, _ number: Int, _ request: RecordedRequest, _ response: TestResponse
    ) -> TestResponse {
        if kind == .unaskedPart, number == 1, request.range != nil { return response }
        // The first response is truncated, or is the first of several segments.
        if number == 1 { return segments == 1 ? response.truncated(to: 250_000) : response }
        guard let range = request.range, let first = Int(range.dropFirst(6).prefix { $0 != "-" }) else {
            return response
        }
        let last = range.split(separator: "-").dropFirst().first.flatMap { Int($0) } ?? film.count - 1
        let part = film[first...last]
        func partial(_ contentRange: String?, _ body: Data, etag: String? = "\"1\"") -> TestResponse {
            var response = TestResponse(status: 206, body: body)
            if let contentRange { response.headers.add("Content-Range", contentRange) }
            if let etag { response.headers.add("ETag", etag) }
            return response
        }
        let right = "bytes \(first)-\(last)/\(film.count)"
        let other = Self.another.prefix(part.count)
        let wrong = Data("wrong".utf8) + part.dropFirst(5)
        switch kind {
        case .honest: return response
        case .ignoresRange: return .data(film).header("ETag", "\"1\"")
        case .refusesRange412: return .status(412)
        case .refusesRange416: return .status(416, headers: ["Content-Range": "bytes */\(film.count)"])
        case .noContentRange: return partial(nil, wrong)
        case .wrongStart: return partial("bytes \(first + 1)-\(last)/\(film.count)", Data(wrong.dropLast()))
        case .wrongTotal: return partial("bytes \(first)-\(last)/\(film.count + 1)", wrong)
        case .wrongUnit: return partial("pages \(first)-\(last)/\(film.count)", wrong)
        case .multipart:
            var response = partial(
                nil, Data("--x\r\nContent-Range: \(right)\r\n\r\n".utf8) + part + Data("\r\n--x--".utf8))
            response.headers.add("Content-Type", "multipart/byteranges; boundary=x")
            return response
        case .lyingLength: return partial(right, wrong + Data("more".utf8))
        case .otherValidator: return partial(right, other, etag: "\"2\"")
        case .vanishedValidator: return partial(right, other, etag: nil)
        case .weakValidator: return partial(right, other, etag: "W/\"1\"")
        case .gzipped: return partial(right, other).header("Content-Encoding", "gzip")
        case .shorterParts:
            let end = min(last, first + 99_999)
            return partial("bytes \(first)-\(end)/\(film.count)", film[first...end])
        case .longBody: return number < 8 ? partial(right, part + Data("more".utf8)).chunked() : response
        case .shortBody: return number < 8 ? partial(right, part.prefix(part.count / 2)).chunked() : response
        case .emptyPart: return number < 4 ? partial(right, Data()).chunked() : response
        case .unknownTotal: return partial("bytes \(first)-\(last)/*", part)
        case .unaskedPart: return response
        case .errorOnce: return number == 2 ? .text("no", status: 503).header("Retry-After", "0") : response
        case .tooManyOnce: return number < 5 ? .status(429) : response
        case .resetOnce: return number == 2 ? response.resetting(afterBodyBytes: 1000) : response
        // A part of the file whose status is 200 instead of 206.
        case .partWithStatus200:
            return .data(part).header("Content-Range", right).header("ETag", "\"1\"").header("Accept-Ranges", "bytes")
        case .lengthOfOther: return partial("bytes \(first)-\(last + 1)/\(film.count)", wrong + Data("!".utf8))
        }
    }

    @Test("a part that wasn't requested is refused, and no file is created", arguments: Wire.allCases)
    func unaskedPart(wire: Wire) async throws {
        let origin = try Origin(film)
        origin.set { resource in
            resource.twist = { _, _, _ in
                TestResponse(status: 206, headers: ["Content-Range": "bytes 0-9/1000000"], body: bytes(10))
            }
        }
        let error = await failure { try await agent(origin.server, wire).send(Get(folder.file("a"))) }
        #expect((error as? TransferError)?.code == .unusableResponse && folder.names.isEmpty)
    }

    @Test("statuses without a file are errors", arguments: [201, 202, 204, 205, 304])
    func noFile(status: Int) async throws {
        let origin = try Origin(film)
        origin.set { $0.twist = { _, _, _ in .status(status) } }
        let error = await failure { try await agent(origin.server).send(Get(folder.file("a"))) }
        if status == 304 {
            #expect((error as? ErrandError)?.code == .unacceptableStatus)
        } else {
            #expect((error as? TransferError)?.code == .unusableResponse)
        }
        #expect(folder.names.isEmpty)
    }

    @Test(
        "a file without a strong validator is requested without a range",
        arguments: [nil, "W/\"1\"", "\"a\"b\"", "bare"],
        [1, 4])
    func noValidator(etag: String?, segments: Int) async throws {
        let origin = try Origin(film)
        origin.set { $0.etag = etag }
        origin.breakFirst(after: 400_000)
        try await agent(origin.server, .system, quick(segments: segments)).send(Get(folder.file("a")))
        #expect(try folder.data("a") == film)
        #expect(origin.ranges.dropFirst().allSatisfy { $0 == nil })
        // No partial file is kept either.
        origin.set { $0.twist = { _, _, response in response.truncated(to: 400_000) } }
        let request = Get(folder.file("b")).with { $0.downloadOptions = quick(tries: 1) }
        #expect(await failure { try await agent(origin.server).send(request) } != nil)
        #expect(folder.names == ["a"])
    }

    @Test("a date is a strong validator if the file is a minute older than the response")
    func dates() async throws {
        for (date, isStrong) in [("Sun, 06 Nov 1994 08:48:37 GMT", true), ("Sun, 06 Nov 1994 08:48:38 GMT", false)] {
            let server = try TestServer()
            server.on("/film.mp4") { [film] request in
                let isFirst = request.index == 1 && request.connection == 1
                let whole = TestResponse.ranges(film, lastModified: date).header(
                    "Date", "Sun, 06 Nov 1994 08:49:37 GMT")
                return isFirst ? whole.truncated(to: 300_000) : whole
            }
            try await agent(server).send(Get(folder.file("a")))
            #expect(try folder.data("a") == film)
            #expect((server.received.last?.range != nil) == isStrong)
            #expect(server.received.last?.headers["If-Range"] == (isStrong ? date : nil))
        }
    }
}

#if os(Linux) || os(Android)
import Errand
import ErrandConformance
import ErrandCurlTransport
import Foundation
import Testing

/// Removes the first byte of responses with a field.
private struct FirstByte: Transport {
    let inner = CurlTransport()
    /// Right: the field with the length goes, too. Wrong: it stays.
    let removesLength: Bool

    func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse {
        var response = try await inner.send(request, options: options)
        guard response.headers.contains("X-Padded"), request.method != .head else { return response }
        if removesLength { response.headers.remove(.contentLength) }
        if let data = response.body.data {
            response.body = HTTPBody(Data(data.dropFirst()))
            return response
        }
        let chunks = BodyChunks(response.body)
        let first = Skipped()
        response.body = HTTPBody(cancel: chunks.cancel) {
            guard let chunk = try await chunks.next() else { return nil }
            return await first.rest(of: chunk)
        }
        return response
    }

    private actor Skipped {
        private var isDone = false

        func rest(of chunk: Data) -> Data {
            if isDone || chunk.isEmpty { return chunk }
            isDone = true
            return Data(chunk.dropFirst())
        }
    }
}

/// Responds with the files of a folder.
private struct Files: Transport {
    let folder: URL
    /// Right: the file must be in the folder. Wrong: `..` leads to other folders.
    let staysInside: Bool

    func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse {
        guard request.method == .get || request.method == .head else { return HTTPResponse(to: request, status: 405) }
        let file = folder.appendingPathComponent(request.url.path).standardizedFileURL
        let isInside = file.path.hasPrefix(folder.standardizedFileURL.path + "/")
        guard isInside || !staysInside, let data = try? Data(contentsOf: file) else {
            return HTTPResponse(to: request, status: 404)
        }
        let headers: HTTPHeaders = ["Content-Length": "\(data.count)"]
        return HTTPResponse(
            to: request, status: 200, headers: headers, body: request.method == .head ? .empty : HTTPBody(data))
    }
}

@Suite("Transports that change or create responses are judged by the suite", .endsInTime)
struct BroaderTransportTests {
    private static let padded = WireExchange(
        reply: WireReply(headers: ["X-Padded": "1"], body: .bytes(50), framing: .chunked([])))

    @Test("a law refuses a transport that keeps the length of a body that it changes")
    func length() async throws {
        let failure = await #expect(throws: ConformanceFailure.self) {
            try await TransportLaw.framing.check({ FirstByte(removesLength: false) }, Self.padded)
        }
        #expect(failure?.name == TransportLaw.framing.name)
        try await TransportLaw.framing.check({ FirstByte(removesLength: true) }, Self.padded)
    }

    @Test("a sample shows the laws what a transport reacts to", arguments: [false, true])
    func samples(isRight: Bool) async throws {
        func failures(_ samples: [WireExchange]) async -> [String] {
            let cases = TransportConformance.cases(
                for: { FirstByte(removesLength: isRight) }, samples: samples,
                laws: LawOptions(rounds: 50, budget: .seconds(600)))
            var failures: [String] = []
            for each in cases where each.feature == .laws {
                do { try await each.run() } catch { failures.append("\(error)") }
            }
            return failures
        }
        #expect(await failures([]) == [])
        #expect(await failures([Self.padded]).isEmpty == isRight)
    }

    @Test("a case refuses a transport whose paths lead out of its folder", arguments: [false, true])
    func files(isRight: Bool) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data("welcome".utf8).write(to: folder.appending(path: "index.txt"))
        var failures: [String] = []
        let cases = TransportConformance.localCases(
            for: { Files(folder: folder, staysInside: isRight) }, at: "https://files.local/index.txt")
        for each in cases { do { try await each.run() } catch { failures.append("\(error)") } }
        #expect(failures.count == (isRight ? 0 : 1), "\(failures)")
    }
}
#endif

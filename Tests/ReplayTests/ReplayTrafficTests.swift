import Errand
import ErrandRecording
import ErrandReplay
import ErrandTesting
import Foundation
import Testing

/// Compares archives of Chromium, Firefox and mitmproxy with the data the server sent. Tests/Traffic/make creates
/// them.
@Suite(.endsInTime, .leakChecked)
struct ReplayTrafficTests {
    private struct Sent: Decodable {
        let method: String
        let path: String
        let status: Int
        /// Base64-encoded.
        let body: Data
        let type: String
        let requestType: String
        let requestBody: Data
    }

    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Traffic")
        .standardizedFileURL

    private static func sent(_ name: String) throws -> [Sent] {
        let data = try Data(contentsOf: folder.appending(path: "\(name).json"))
        return try JSONDecoder().decode([Sent].self, from: data)
    }

    private func request(_ sent: Sent) -> Raw {
        let body = sent.requestBody.isEmpty ? RequestBody.none : .data(sent.requestBody, contentType: sent.requestType)
        return Raw(
            path: String(sent.path.dropFirst()), method: HTTPMethod(rawValue: sent.method), body: body,
            redirects: RedirectPolicy.off)
    }

    /// Chromium records U+FFFD for a byte that its charset can't decode.
    private func isLost(_ sent: Sent, _ name: String) -> Bool { name == "chromium" && sent.path == "/broken" }

    @Test(
        "every response arrives byte for byte, in order", arguments: ["chromium", "firefox", "mitmproxy"],
        [false, true])
    func replays(name: String, comparesBody: Bool) async throws {
        let replay = try ReplayTransport(
            har: Self.folder.appending(path: "\(name).har"), matching: ReplayMatching(body: comparesBody))
        let agent = NetworkAgent(baseURL: "http://127.0.0.1:8080", transport: replay)
        let all = try Self.sent(name)
        #expect(all.count > 25)
        for sent in all {
            let response = try await agent.send(request(sent)).value
            #expect(response.status == sent.status, "\(sent.path)")
            #expect(response.headers[.contentType] ?? "" == sent.type, "\(sent.path)")
            #expect(!response.headers.contains(.contentEncoding), "\(sent.path)")
            if !isLost(sent, name) { #expect(response.data == sent.body, "\(sent.path)") }
            if sent.path == "/cookies" {
                #expect(response.headers.values(of: .setCookie) == ["a=1; Path=/", "b=2; Path=/"])
            }
        }
        #expect(replay.report.incompleteBodies.isEmpty)
        // A browser's archive also contains the page itself and a refused request.
        #expect(replay.unusedEntries.map(\.status) == (name == "mitmproxy" ? [] : [200, 0]))
    }

    @Test("redirects are followed, and a refused request is refused")
    func following() async throws {
        for name in ["chromium", "firefox", "mitmproxy"] {
            let replay = try ReplayTransport(har: Self.folder.appending(path: "\(name).har"))
            let agent = NetworkAgent(baseURL: "http://127.0.0.1:8080", transport: replay)
            let response = try await agent.send(Get(path: "old?page=2"))
            #expect(response.value == "arrived" && response.http.url.query() == "page=2")
            guard name != "mitmproxy" else { continue }
            let error = await #expect(throws: ErrandError.self) {
                try await agent.send(Raw(path: "http://127.0.0.1:8081/refused"))
            }
            // Firefox doesn't record the reason.
            #expect(error?.code == (name == "chromium" ? .cannotConnect : .connectionLost))
        }
    }

    @Test("another program's archive can be read as a value", arguments: ["chromium", "firefox", "mitmproxy"])
    func values(name: String) throws {
        let text = try String(contentsOf: Self.folder.appending(path: "\(name).har"), encoding: .utf8)
        // Foundation refuses the unpaired surrogate with which mitmproxy preserves an undecodable byte.
        let data = Data(text.replacing(#"\udcff"#, with: "?").utf8)
        let file = try JSONDecoder().decode(HARFile.self, from: data)
        #expect(file.log.version == "1.2" && file.log.entries.count > 28)
        #expect(file.log.entries.contains { $0.response.status == 302 && $0.response.redirectURL.contains("/new") })
        #expect(file.log.entries.allSatisfy { $0.timings.sum >= 0 && !$0.request.url.isEmpty })
        let again = try JSONDecoder().decode(HARFile.self, from: file.encoded())
        #expect(again == file)
    }

    @Test(
        "an archive that is truncated or damaged anywhere throws a typed error",
        arguments: ["chromium", "firefox", "mitmproxy"])
    func damaged(name: String) throws {
        let whole = try Data(contentsOf: Self.folder.appending(path: "\(name).har"))
        var generator = SeededGenerator(seed: 18)
        for _ in 0..<8 {
            let count = generator.below(whole.count - 8)
            let error = #expect(throws: HARError.self) { try ReplayTransport(har: whole.prefix(count)) }
            #expect(error?.code == .truncated && error?.byte == count)
            var damaged = whole
            damaged[count] = UInt8(generator.below(256))
            do { _ = try ReplayTransport(har: damaged) } catch { #expect(error is HARError) }
        }
    }
}

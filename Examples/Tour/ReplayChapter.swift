import Errand
import ErrandExampleShop
import ErrandExampleUsers
import ErrandRecording
import ErrandReplay
import ErrandTesting
import Foundation

/// Records the requests of the shop's agent, then sends them again with the recording as the server.
enum ReplayChapter {
    /// A recorded request, to be sent again.
    private struct Again: Request {
        typealias Output = HTTPResponse
        let recorded: RecordedExchange.Request
        var path: String { recorded.url }
        var method: HTTPMethod { recorded.method }
        var body: RequestBody {
            recorded.body.data.isEmpty ? .none : .data(recorded.body.data, contentType: "text/plain")
        }
        var redirects: RedirectPolicy? { RedirectPolicy.off }
        var acceptableStatuses: StatusCodes { .any }
    }

    static func run(_ shop: Shop, _ cassette: ReplayTransport, _ recording: RecordingFile) async throws {
        Chapter.begin("A replay: what was sent once more, and nothing of it reaches the server")
        _ = try await shop.agent.send(GetUser(id: 7))
        _ = try await shop.agent.send(CreateUser(name: "Grace"))
        _ = try await shop.agent.send(GetText(path: "old"))
        try cassette.save()
        let before = shop.server.requestCount
        let replay = try ReplayTransport(har: recording.file)
        let agent = NetworkAgent(baseURL: shop.server.url("v1"), transport: replay)
        var (same, bytes) = (0, 0)
        for exchange in cassette.newExchanges {
            guard let expected = exchange.response else { continue }
            let response = try await agent.send(Again(recorded: exchange.request)).value
            if response.status == expected.status, response.data == expected.body.data { same += 1 }
            bytes += response.data.count
        }
        let all = cassette.newExchanges.count
        try replay.checkAllUsed()
        Chapter.line("\(same) of \(all) responses are the same, byte for byte, \(bytes) bytes in all")
        Chapter.line(
            "\(replay.unusedEntries.count) entries unused, \(shop.server.requestCount - before) requests on the wire")
        do { _ = try await agent.send(GetUser(id: 8)) } catch let error as ReplayError {
            Chapter.line("users/8 was not recorded: \(error.differences.joined(separator: ", "))")
        }
        Chapter.end()
    }
}

/// A file for the recording. It is deleted along with this object.
final class RecordingFile: Sendable {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "errand-tour-\(UUID())")
    var file: URL { folder.appending(path: "shop.har") }

    init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }
    deinit { try? FileManager.default.removeItem(at: folder) }
}

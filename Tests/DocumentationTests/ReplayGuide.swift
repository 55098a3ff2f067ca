// The code of docs/replay.md.
import Errand
import ErrandRecording
import ErrandReplay
import ErrandSystemTransport
import Foundation
import Testing

private func record(_ file: URL) async throws {
    let cassette = try ReplayTransport(har: file, mode: .recordAll(over: .system))
    let agent = NetworkAgent(baseURL: "https://api.example.com", transport: cassette)
    _ = try await agent.send(GetUser(id: 7))
    try cassette.save()
}

private func replay(_ file: URL) async throws {
    let replay = try ReplayTransport(har: file)
    let agent = NetworkAgent(baseURL: "https://api.example.com", transport: replay)
    let user = try await agent.send(GetUser(id: 7)).value
    #expect(user.name == "Ada")
    try replay.checkAllUsed()
}

private func add(_ file: URL) throws {
    let cassette = try ReplayTransport(har: file, mode: .recordNew(over: .system))
    _ = cassette
}

private func match(_ file: URL) throws {
    let strict = ReplayMatching(body: true, headers: ["Accept-Language"])
    let lenient = ReplayMatching(ignoredQueryItems: ["timestamp"], ignoresOrigin: true)
    let replay = try ReplayTransport(har: file, matching: strict)
    _ = (lenient, replay)
}

private func show(_ file: URL) throws {
    var redaction = Redaction()
    redaction.shownHeaders.insert("Link")
    redaction.shownNames.insert("pagetoken")
    let cassette = try ReplayTransport(har: file, mode: .recordAll(over: .system), redaction: redaction)
    _ = cassette
}

private func memory(_ recorder: ExchangeRecorder) throws {
    let replay = try ReplayTransport(har: recorder.harFile())
    _ = replay
}

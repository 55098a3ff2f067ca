import Errand
import ErrandEssentials
import ErrandSystemTransport
import ErrandTesting
import Synchronization
import Testing

/// Progress that other clients counted wrong; the reports are in Tests/Lessons.md.
@Suite("Progress of uploads that are sent more than once", .endsInTime, .leakChecked) struct ProgressReportTests {
    @Test("the progress of a redirected upload begins again and never exceeds its total")
    func redirected() async throws {
        let (server, body) = (try TestServer(), Data(repeating: 0x61, count: 700_000))
        server.on(
            "/first",
            TestResponse(status: 307, headers: [.location: "/second"]))
        server.on("/second", .text("ok"))
        let events = Log<TransferProgress>()
        let agent = NetworkAgent(baseURL: server.url, transport: .system)
        let call = Call<Data>(.put, "first") { $0.body = .data(body) }
        _ = try await agent.send(call, options: CallOptions(progress: { events.add($0) }))
        let all = events.all
        for each in all { #expect(each.sent <= each.totalToSend ?? .max && each.sent <= Int64(body.count)) }
        let last = try #require(all.last)
        #expect(last.sent == Int64(body.count) && last.totalToSend == Int64(body.count) && last.transfer == 2)
        for (before, after) in zip(all, all.dropFirst()) where before.transfer == after.transfer {
            #expect(before.sent <= after.sent)
        }
    }
}

import Errand
import ErrandConformance
import ErrandRecording
import ErrandReplay
import Foundation
import Testing

@Suite("A replay passes the suite for transports that respond themselves", .endsInTime, .leakChecked)
struct ReplayConformanceTests {
    @Sendable private static func replay(_ resources: [LocalResource]) throws -> ReplayTransport {
        let entries = resources.map { resource in
            var content = HARFile.Content(
                size: Int64(resource.body.count), mimeType: resource.contentType,
                text: resource.body.base64EncodedString())
            content.encoding = "base64"
            return HARFile.Entry(
                startedDateTime: "2026-01-01T00:00:00.000Z", time: 1,
                request: HARFile.Request(method: "GET", url: resource.url),
                response: HARFile.Response(
                    status: 200, headers: [HARFile.Pair(name: "Content-Type", value: resource.contentType)],
                    content: content, bodySize: Int64(resource.body.count)),
                timings: HARFile.Timings(send: 0, wait: 1, receive: 0))
        }
        let log = HARFile.Log(creator: HARFile.Creator(name: "suite", version: "1"), entries: entries)
        return try ReplayTransport(har: HARFile(log: log), repeatsLastResponse: true)
    }

    private static let cases = TransportConformance.localCases(
        serving: replay, laws: LawOptions(rounds: LawBudget.rounds, budget: LawBudget.duration))

    @Test("a replay passes each case", arguments: cases)
    func kept(each: ConformanceCase) async throws { try await each.run() }
}

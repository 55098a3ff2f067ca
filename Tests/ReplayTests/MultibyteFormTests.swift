import Errand
import ErrandReplay
import ErrandTesting
import Foundation
import Testing

/// Forms that other libraries got wrong. Tests/Lessons.md has the report.
@Suite("Forms that other libraries got wrong", .endsInTime, .leakChecked)
struct MultibyteFormTests {
    @Test(
        "a form in another charset matches by its bytes, whether the second byte of a character is escaped or not",
        arguments: [("a=%83%7A", "a=%83z", true), ("a=%83z&b=1", "a=%83%7a&b=%31", true), ("a=%83z", "a=%83y", false)])
    func multibyteForms(recorded: String, sent: String, matches: Bool) async throws {
        let type = "application/x-www-form-urlencoded"
        let replay = try ReplayTransport(
            har: archive(entry("POST", "\(site)/a", post: #"{"mimeType":"\#(type)","text":"\#(recorded)"}"#)),
            matching: ReplayMatching(body: true))
        let request = Raw(path: "a", method: .post, body: .data(Data(sent.utf8), contentType: type))
        do {
            _ = try await agent(replay).send(request)
            #expect(matches)
        } catch is ReplayError { #expect(!matches) }
    }
}

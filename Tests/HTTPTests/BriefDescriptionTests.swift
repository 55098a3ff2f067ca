import ErrandHTTP
import Foundation
import Testing

@Suite(.leakChecked) struct BriefDescriptionTests {
    private struct Silent: Error { var secret = "hunter2" }
    private struct Spoken: Error, CustomStringConvertible { let description = "what happened" }
    private struct Localized: LocalizedError { var errorDescription: String? { "what people read" } }
    private enum Refusal: Error {
        case unknownUser, status(Int), limit(code: Int, text: String), secret(String), both(Int, String)
    }
    private struct Status: Error { let code = 7, isFinal = true, text = "hunter2" }
    private final class Object: Error, CustomStringConvertible { let description = "user info with a URL" }

    @Test("an error's description is the author's own, or its type, case and numbers")
    func brief() {
        #expect(Spoken().briefDescription == "what happened")
        #expect(Localized().briefDescription == "what people read")
        #expect(Silent().briefDescription == "Silent")
        #expect(Refusal.unknownUser.briefDescription == "Refusal.unknownUser")
        #expect(Refusal.status(404).briefDescription == "Refusal.status(404)")
        #expect(Refusal.limit(code: 7, text: "hunter2").briefDescription == "Refusal.limit(code: 7, …)")
        #expect(Refusal.secret("hunter2").briefDescription == "Refusal.secret")
        #expect(Refusal.both(1, "hunter2").briefDescription == "Refusal.both(1, …)")
        #expect(Status().briefDescription == "Status(code: 7, isFinal: true, …)")
        #expect(Object().briefDescription == "Object")
        #expect(CancellationError().briefDescription == "CancellationError")
        let url = URL(string: "https://example.com/?key=hunter2")!
        #expect(!URLError(.badURL, userInfo: ["url": url]).briefDescription.contains("hunter2"))
        let any: any Error = Spoken()
        #expect(any.briefDescription == "what happened")
    }
}

import Errand
import ErrandTesting
import Testing

@Suite("Members that only look like requirements", .leakChecked) struct ShadowedMemberTests {
    @Test("a stored property of another type than the member's is named once, for its type")
    func warned() async throws {
        struct Wrong: Request {
            // The compiler doesn't warn about these: their defaults depend on the output, or are rarely replaced.
            let base = "standard"
            let delivery: BodyDelivery? = nil
            let path = "plain"
            let authorization: Authorization? = nil
            let other = 7
        }
        let notes = Log<String>()
        let agent = NetworkAgent(baseURL: base, transport: .stub(.status(200)), accessories: [Notes(log: notes)])
        _ = try await agent.send(Wrong())
        _ = try await agent.send(Wrong())
        #if DEBUG
        #expect(notes.all.count == 2)
        #expect(notes.all.first?.hasPrefix("Wrong.base has the type String, not RequestBaseURL, so") == true)
        #expect(notes.all.last?.hasPrefix("Wrong.delivery has the type BodyDelivery?, not BodyDelivery, so") == true)
        #endif
    }

    @Test("a request whose properties have the right types gets no warning")
    func right() async throws {
        let notes = Log<String>()
        let agent = NetworkAgent(baseURL: base, transport: .stub(.status(200)), accessories: [Notes(log: notes)])
        _ = try await agent.send(Plain())
        _ = try await agent.send(Call<String>(.get, "plain") { $0.timeout = .seconds(1) })
        #expect(notes.all.isEmpty)
    }

    private struct Notes: Accessory {
        let log: Log<String>
        func activity(_ activity: Activity, did event: ActivityEvent) {
            if case .note(let note) = event { log.add(note.message) }
        }
    }
}

@Suite("Errors for people and for NSError", .leakChecked) struct ErrorDescriptionTests {
    @Test("the localized description is a sentence for people, and the code a number that stays")
    func description() {
        let error = ErrandError(
            .truncated, "received 3 bytes, but 5 bytes were announced", underlying: CancellationError())
        #expect(error.description == "truncated: received 3 bytes, but 5 bytes were announced" && error.errorCode == 14)
        #expect(error.errorDescription == FailureSentence.connectionLost.text())
        #expect(error.errorUserInfo["NSDebugDescription"] as? String == error.description)
        #expect(ErrandError.errorDomain == "Errand.ErrandError")
        #expect(error.errorUserInfo["NSUnderlyingError"] is CancellationError)
        #expect(error.errorUserInfo["NSLocalizedDescription"] as? String == error.errorDescription)
        let numbers = [
            ErrandError.Code.invalidURL, .invalidRequest, .encodingFailed, .bodyNotReplayable, .fileFailed, .cancelled,
            .timedOut,
            .deadlineExceeded, .nameLookupFailed, .cannotConnect, .connectionLost, .insecureConnection,
            .invalidResponse,
            .truncated, .bodyTooLarge, .bodyAlreadyRead, .redirectFailed, .unacceptableStatus, .unacceptableContentType,
            .checkFailed, .decodingFailed, .activityEnded, .transportUnavailable, .transportFailed,
        ].map(\.number)
        #expect(numbers == Array(1...24))
    }
}

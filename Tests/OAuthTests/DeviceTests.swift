import Errand
import ErrandEssentials
import ErrandOAuth
import ErrandTesting
import Testing

@testable import ErrandOAuth

@Suite("Signing in on a device", .endsInTime, .leakChecked) struct DeviceTests {
    /// Signs in, and returns the seconds between the requests along with the result.
    private static func run(_ answers: [String]) async throws -> (waits: [Int], result: Result<OAuthToken, any Error>) {
        let server = try AuthorizationServer()
        server.behave { $0.deviceAnswers = answers }
        let shown = Log<DeviceSignIn>()
        let client = server.client()
        let result: Result<OAuthToken, any Error>
        do {
            result = .success(try await client.signInOnDevice(scope: "a", parameters: ["x": "y"]) { shown.add($0) })
        } catch { result = .failure(error) }
        #expect(shown.count == 1)
        let signIn = shown.all[0]
        #expect(signIn.userCode == "WDJB-MJHT" && signIn.page.absoluteString == server.url + "/enter")
        #expect(signIn.pageWithCode?.absoluteString == server.url + "/enter?c=WDJB-MJHT")
        #expect(signIn.expiry == Date(timeIntervalSince1970: 1_000_000_120))
        #expect(server.received("/device").first?.text.contains("x=y") == true)
        return (server.clock.waits.all, result)
    }

    @Test("the client asks every five seconds until the user has entered the code") func success() async throws {
        let (waits, result) = try await Self.run(["authorization_pending", "authorization_pending"])
        #expect(try result.get().refreshToken != nil)
        #expect(waits == [5, 5, 5])
    }

    @Test("slow_down adds five seconds for the rest of the sign-in") func slowDown() async throws {
        let (waits, result) = try await Self.run(["slow_down", "authorization_pending", "slow_down"])
        #expect((try? result.get()) != nil)
        #expect(waits == [5, 10, 10, 15])
    }

    @Test("a lost response halves the frequency and doesn't end the sign-in") func lost() async throws {
        let (waits, result) = try await Self.run(["lost"])
        #expect((try? result.get()) != nil)
        #expect(waits == [5, 10])
    }

    @Test("a code expires by the clock, even if the server keeps answering that it's pending") func expiry()
        async throws
    {
        let (waits, result) = try await Self.run(Array(repeating: "authorization_pending", count: 100))
        #expect(throws: OAuthError.self) { try result.get() }
        if case .failure(let error) = result { #expect((error as? OAuthError)?.code == .deviceCodeExpired) }
        // The last request comes before the end at 120 seconds, not at the end.
        #expect(waits == Array(repeating: 5, count: 23))
    }

    @Test(
        "an error from the server ends the sign-in",
        arguments: [
            ("expired_token", OAuthError.Code.deviceCodeExpired), ("access_denied", .accessDenied),
            ("invalid_grant", .invalidGrant), ("unauthorized_client", .refused),
        ])
    func refusal(answer: String, code: OAuthError.Code) async throws {
        let (waits, result) = try await Self.run(["authorization_pending", answer])
        if case .failure(let error) = result { #expect((error as? OAuthError)?.code == code) }
        #expect(throws: OAuthError.self) { try result.get() }
        #expect(waits == [5, 5])
    }

    @Test("hostile numbers are bounded, and a page that isn't a URL is refused") func hostile() throws {
        func reply(_ expires: String, _ interval: String, page: String = "https://a.example/") throws(OAuthError)
            -> DeviceReply
        {
            try DeviceReply(
                Data(
                    #"{"device_code":"d","user_code":"u","verification_uri":"\#(page)","expires_in":\#(expires),"interval":\#(interval)}"#
                        .utf8))
        }
        #expect(try reply("1e300", "1e300").lifetime == 86_400 && reply("1e300", "1e300").interval == 600)
        #expect(try reply("-5", "0").lifetime == 1 && reply("-5", "0").interval == 1)
        #expect(try reply("10.5", "2.5").lifetime == 11 && reply("10.5", "null").interval == 5)
        for page in ["http://a.example/", "javascript:alert(1)", "", "/enter"] {
            #expect(throws: OAuthError.self) { try reply("1", "1", page: page) }
        }
        #expect(throws: OAuthError.self) { try reply(#""1 minute""#, "1") }
        #expect(throws: OAuthError.self) { try reply(#""inf""#, "1") }
    }

    @Test("numbers may be in quotes, and a page for a QR code may be empty or missing") func quoted() throws {
        for page in ["", #""verification_uri_complete":"","#, #""verification_uri_complete":null,"#] {
            let text =
                #"{"device_code":"d","user_code":"u",\#(page)"verification_url":"https://a.example/","expires_in":"900","interval":"7"}"#
            let reply = try DeviceReply(Data(text.utf8))
            #expect(reply.lifetime == 900 && reply.interval == 7)
            #expect(reply.signIn(until: Date(timeIntervalSince1970: 0)).pageWithCode == nil)
        }
    }

    @Test("cancelling the task ends the sign-in") func cancelled() async throws {
        let server = try AuthorizationServer()
        let client = server.client()
        let shown = Gate()
        let task = Task {
            try await client.signInOnDevice { _ in
                shown.open()
                try await server.time.sleep(until: server.time.instant(after: .seconds(1000)))
            }
        }
        try await shown.wait()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(server.received("/token").isEmpty)
    }
}

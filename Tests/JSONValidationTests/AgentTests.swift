import Errand
import ErrandJSONValidation
import ErrandTesting
import Foundation
import Synchronization
import Testing

@Suite("JSON validation on an agent", .endsInTime, .leakChecked)
struct AgentTests {
    private struct User: Decodable, Equatable { let id: Int }

    private struct GetUser: JSONValidatedRequest {
        typealias Output = User?
        var method = HTTPMethod.get
        var acceptableStatuses = StatusCodes.successful
        var path: String { "user" }
        var shape: JSONShape { ["id": .integer, "name": .string] }
    }

    private struct GetText: Request {
        typealias Output = String
    }

    private func agent(_ response: StubResponse, _ filters: [any Filter] = [.jsonValidation]) -> NetworkAgent {
        NetworkAgent(baseURL: "https://api.example.com", transport: .stub(response), filters: filters)
    }

    private func refusal(_ request: some Request, _ agent: NetworkAgent) async -> ErrandError? {
        do {
            _ = try await agent.send(request)
            return nil
        } catch { return error as? ErrandError }
    }

    @Test("a response of the right shape is decoded")
    func right() async throws {
        let response = try await agent(.json(#"{"id":7,"name":"Ada","more":[]}"#)).send(GetUser())
        #expect(response.value == User(id: 7))
    }

    @Test("a wrong response fails with a typed error that keeps the evidence")
    func wrong() async throws {
        let text = #"{"id":7,"name":8}"#
        let error = try #require(await refusal(GetUser(), agent(.json(text).header("X-Request-Id", "42"))))
        #expect(error.code == .checkFailed)
        #expect(
            error.message == "JSON validation failed: /name: expected a string, found a number (byte 15) (1 problem)")
        #expect(error.jsonValidation?.problems.first?.pointer == "/name")
        #expect(error.response?.status == 200)
        #expect(error.response?.headers["X-Request-Id"] == "42")
        #expect(error.response?.data == Data(text.utf8))
        #expect(error.request?.url.path() == "/user")
        #expect(!error.isRetryable && !error.isCancelled)
    }

    @Test("a request without a shape passes unchanged")
    func others() async throws {
        #expect(try await agent(.text("no JSON")).send(GetText()).value == "no JSON")
        #expect(await refusal(GetText(), agent(.json("no JSON"), []))?.jsonValidation == nil)
    }

    @Test("an empty body fails", arguments: ["", " ", "\n"])
    func empty(text: String) async throws {
        let error = try #require(await refusal(GetUser(), agent(.data(Data(text.utf8)))))
        #expect(error.jsonValidation?.problems.first?.found == "an empty text")
        #expect(error.message.contains("found an empty text"))
    }

    @Test("an empty body is accepted if the status or method doesn't allow a body", arguments: [204, 205, 304])
    func noContent(status: Int) async throws {
        let request = GetUser(acceptableStatuses: [status])
        #expect(try await agent(.status(status)).send(request).value == nil)
        let error = await refusal(request, agent(.json("[]", status: status)))
        #expect(error?.jsonValidation != nil)
    }

    @Test("a response to HEAD isn't validated, even after a redirect")
    func head() async throws {
        let transport = StubTransport { request in
            request.url.path() == "/user" ? .redirect(to: "/other", status: 303) : .json(#"{"id":"unseen"}"#)
        }
        let agent = NetworkAgent(baseURL: "https://api.example.com", transport: transport, filters: [.jsonValidation])
        let response = try await agent.send(GetUser(method: .head))
        #expect(response.http.url.path() == "/other" && response.value == nil)
    }

    @Test("a redirect that turns POST into GET is validated as GET")
    func redirect() async throws {
        let transport = StubTransport { request in
            request.method == .post ? .redirect(to: "/other", status: 303) : .status(200)
        }
        let agent = NetworkAgent(baseURL: "https://api.example.com", transport: transport, filters: [.jsonValidation])
        #expect(await refusal(GetUser(method: .post), agent)?.jsonValidation != nil)
    }

    @Test("rejected responses aren't stored, even if a filter responds itself")
    func staging() async throws {
        let stored = Mutex<[String]>([])
        @Sendable func keep(_ word: String) { stored.withLock { $0.append(word) } }
        let cache = ClosureFilter { exchange, _ in
            exchange.whenAccepted({ keep("kept") }, otherwise: { keep("discarded") })
            let text = exchange.http.method == .get ? #"{"id":1,"name":"Ada"}"# : #"{"id":1}"#
            return HTTPResponse(
                url: exchange.http.url, status: 200, headers: [.contentType: "application/json"],
                body: HTTPBody(Data(text.utf8)),
                source: .stored(age: .seconds(1), reason: "test"))
        }
        let agent = agent(.status(500), [.jsonValidation, cache])
        #expect(try await agent.send(GetUser()).value == User(id: 1))
        #expect(await refusal(GetUser(method: .post), agent)?.jsonValidation?.problems.first?.kind == .missing)
        #expect(stored.withLock { $0 } == ["kept", "discarded"])
    }

    @Test("a later filter includes the check when it judges, and the check runs once at the end")
    func judging() async throws {
        let responses = Mutex([#"{"id":1}"#, #"{"id":1,"name":"Ada"}"#])
        let transport = StubTransport { _ in .json(responses.withLock { $0.removeFirst() }) }
        let again = ClosureFilter { exchange, next in
            let response = try await next(exchange)
            do { try await exchange.judge(response) } catch { return try await next(exchange) }
            return response
        }
        let agent = NetworkAgent(
            baseURL: "https://api.example.com", transport: transport, filters: [.jsonValidation, again])
        #expect(try await agent.send(GetUser()).value == User(id: 1))
    }

    @Test("the filter can have its own limits")
    func limits() async throws {
        var limits = JSONLimits()
        limits.maximumBytes = 10
        let error = await refusal(GetUser(), agent(.json(#"{"id":1,"name":"Ada"}"#), [.jsonValidation(limits: limits)]))
        #expect(error?.jsonValidation?.problems.map(\.kind) == [.limit])
    }

    @Test("a request with a shape is validated on an agent without the filter")
    func forgotten() async throws {
        let error = await refusal(GetUser(), agent(.json("[]"), []))
        #expect(error?.code == .checkFailed && error?.jsonValidation?.problems.map(\.kind) == [.type])
        #expect(try await agent(.json(#"{"id":1,"name":"Ada"}"#), []).send(GetUser()).value == User(id: 1))
    }

    @Test("the limits of the agent's filter apply, and a response is validated once")
    func once() async throws {
        struct Counted: JSONValidatedRequest {
            typealias Output = HTTPResponse
            let count: @Sendable () -> Void
            var shape: JSONShape {
                .custom("counted") { _ in
                    count()
                    return true
                }
            }
        }
        let counts = Mutex(0)
        var limits = JSONLimits()
        limits.maximumBytes = 4
        let request = Counted { counts.withLock { $0 += 1 } }
        _ = try await agent(.json("[1]"), [.jsonValidation(limits: limits)]).send(request)
        #expect(counts.withLock { $0 } == 1)
        let error = await refusal(request, agent(.json("[1,2,3]"), [.jsonValidation(limits: limits)]))
        #expect(error?.jsonValidation?.problems.map(\.kind) == [.limit])
        _ = try await agent(.json("[1,2,3]"), []).send(request)
        #expect(counts.withLock { $0 } == 2)
    }

    // MARK: The check without a filter

    private struct Checked: Request {
        typealias Output = HTTPResponse
        var method = HTTPMethod.get
        var delivery = BodyDelivery.data
        var checks: [ResponseCheck] { [.json(["id": .integer], method: method)] }
    }

    @Test("a request checks its own response without a filter")
    func check() async throws {
        _ = try await agent(.json(#"{"id":1}"#), []).send(Checked())
        #expect(await refusal(Checked(), agent(.json("{}"), []))?.jsonValidation != nil)
        #expect(await refusal(Checked(), agent(.status(200), []))?.jsonValidation != nil)
        _ = try await agent(.json("{}"), []).send(Checked(method: .head))
    }

    @Test("a body that was delivered to a file is validated there and stays readable")
    func file() async throws {
        let folder = try Folder()
        let url = folder.file("body.json")
        let response = try await agent(.json(#"{"id":1}"#), []).send(Checked(delivery: .file(url)))
        #expect(try await response.value.body.collect(upTo: 100) == Data(#"{"id":1}"#.utf8))
        #expect(await refusal(Checked(delivery: .file(url)), agent(.json(#"{"id":true}"#), []))?.jsonValidation != nil)
        #expect(await refusal(Checked(delivery: .file(url)), agent(.status(200), []))?.jsonValidation != nil)
    }

    @Test("a stream is rejected, because a check would consume it")
    func stream() async throws {
        let error = await refusal(Checked(delivery: .stream), agent(.chunks([Data(#"{"id":1}"#.utf8)]), []))
        #expect(error?.code == .checkFailed)
        #expect(error?.message.contains("stream") == true)
    }
}

import Errand
import ErrandHTTP
import ErrandTesting
import Foundation
import Testing

/// Checks the output of `print`, `debugPrint`, `dump` and a debugger for a value.
@Suite("Dumps of values that may hold secrets", .leakChecked) struct DumpTests {
    private static let secret = "canary"

    private func text(_ value: Any) -> String {
        var text = "\(value) \(String(reflecting: value)) "
        dump(value, to: &text)
        return text
    }

    private var request: HTTPRequest {
        get throws {
            let text = "https://canary:canary@a.example/x?token=canary&%73ig=canary&q=2#canary"
            let url = try #require(URL(string: text))
            var request = HTTPRequest(.post, url, body: .data(Data(Self.secret.utf8)))
            request.headers.authorize(.bearer(Self.secret))
            request.headers.set("X-Key", Self.secret, sensitive: true)
            request.headers["Cookie"] = "a=canary"
            return request
        }
    }

    private var response: HTTPResponse {
        get throws {
            HTTPResponse(
                to: try request, status: 500, headers: ["Set-Cookie": "a=canary"],
                body: HTTPBody(Data(Self.secret.utf8)))
        }
    }

    /// Another library's error, which contains the URL.
    private struct Foreign: Error {
        let url = "https://a.example/?token=canary"
    }

    @Test("an error's dump shows no secret in its URL, no header, no body, and no contents of its cause")
    func errors() async throws {
        var error = ErrandError(.unacceptableStatus, "no", response: try response, underlying: Foreign())
        error.request = try request
        #expect(!text(error).contains(Self.secret) && text(error).contains("a.example/x"))
        let url = try #require(URL(string: "https://a.example/x?token=canary"))
        let cause = URLError(.timedOut, userInfo: [NSURLErrorFailingURLErrorKey: url])
        #expect(!text(ErrandError(.timedOut, "late", underlying: cause)).contains(Self.secret))
        // An error from a request.
        let agent = NetworkAgent(baseURL: "https://a.example", transport: .stub(.text(Self.secret).status(500)))
        let call = Call<String>(.post, "x", query: ["token": "canary"], body: .text("canary")) {
            $0.authorization = .bearer("canary")
        }
        let thrown = await #expect(throws: ErrandError.self) { try await agent.send(call) }
        #expect(!text(try #require(thrown)).contains(Self.secret))
        #expect(text(ActivityOutcome.failure(error)).contains("unacceptableStatus"))
        #expect(!text(ActivityOutcome.failure(error)).contains(Self.secret))
    }

    @Test("a message doesn't contain secrets of its URL, sensitive headers or bodies")
    func messages() throws {
        let (request, response) = (try request, try response)
        var options = CallOptions(label: "x")
        options.tags[ResourceURL.self] = request.url
        let values: [Any] = [
            request, response, request.headers, Array(request.headers), request.body, response.body,
            Response(value: 1, http: response), Authorization.basic(user: "canary", password: "canary"),
            Authorization.bearer("canary"), RequestBody.text("canary"), RequestBody.form(["a": "canary"]), options,
            options.tags, ActivityEvent.sending(request, TransferPosition()),
            ActivityEvent.redirected(response, to: request), Result<HTTPRequest, any Error>.success(request),
        ]
        for value in values { #expect(!text(value).contains(Self.secret), "\(type(of: value)): \(text(value))") }
        var redactor = Redactor()
        redactor.remember("canary-canary")
        #expect(!text(redactor).contains(Self.secret))
    }

    @Test("parameters, calls, agents and their configuration show no value that may be secret")
    func agents() throws {
        let parameters: Parameters = ["password": "canary", "tokens": ["canary"], "map": .object(["secret": "canary"])]
        var call = Call<Void>(.post, "x?token=canary", query: parameters, body: .form(parameters))
        call.parameters = parameters
        call.headers = ["Cookie": "canary"]
        call.authorization = .bearer("canary")
        var configuration = AgentConfiguration(baseURL: "https://canary:canary@a.example/canary?canary=canary")
        configuration.baseURL = "https://a.example"
        configuration.authorization = .bearer("canary")
        configuration.headers.set("X-Key", "canary", sensitive: true)
        let agent = NetworkAgent(configuration: configuration, transport: .stub)
        for value in [parameters, call, configuration, agent, agent.explain(call)] as [Any] {
            #expect(!text(value).contains(Self.secret), "\(type(of: value)): \(text(value))")
        }
        for item in parameters.items {
            #expect(!text(item).contains(Self.secret) && !text(item.value).contains(Self.secret))
        }
        #expect(text(parameters).contains("password") && "\(call)".hasPrefix("POST x"))
    }

    @Test("an exchange's description only shows its method and location")
    func exchanges() async throws {
        let seen = Log<String>()
        let url = try request.url
        let agent = NetworkAgent(baseURL: "https://a.example", transport: .stub(.text("ok")))
        agent.configure { configuration in
            configuration.authorization = .bearer("canary")
            configuration.filters = [
                .closure { exchange, next in
                    var exchange = exchange
                    exchange.tags[ResourceURL.self] = url
                    var text = "\(exchange) \(String(reflecting: exchange)) \(exchange.activity)"
                    dump(exchange, to: &text)
                    dump(exchange.activity, to: &text)
                    seen.add(text)
                    return try await next(exchange)
                }
            ]
        }
        _ = try await agent.send(Call<String>(.post, "x", query: ["token": "canary"], body: .text("canary")))
        #expect(seen.count == 1 && seen.all.allSatisfy { !$0.contains(Self.secret) && $0.contains("a.example/x") })
    }
}

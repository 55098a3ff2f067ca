import Errand
import ErrandConformance
import ErrandOpenAPI
import ErrandTesting
import Foundation
import HTTPTypes
import OpenAPIRuntime
import Testing

@Suite("A middleware as a filter", .timeLimit(.minutes(10)))
struct MiddlewareFilterTests {
    @Test("a middleware changes requests and responses of any call, and knows the operation by its label")
    func changes() async throws {
        let stub = StubTransport(.text("ok"))
        let agent = NetworkAgent(
            baseURL: "https://api.example.com/v1", transport: stub, filters: [MiddlewareFilter(AddLocale())])
        let response = try await agent.send(
            Call<Errand.HTTPResponse>(.post, "users?page=2", body: .text("Ada")) { $0.label = "create" })
        #expect(response.value.data == Data("ok".utf8) && response.value.headers["X-Operation"] == "create")
        let sent = try #require(stub.received.first)
        #expect(sent.urlText == "https://api.example.com/v1/users?page=2" && sent.method == .post)
        #expect(sent.headers["Accept-Language"] == "de" && sent.body.data == Data("Ada".utf8))
    }

    @Test("a middleware can respond itself, repeat, and replace bodies")
    func responds() async throws {
        let stub = StubTransport()
        stub.on("/x", response: .status(503), .text("second"))
        let agent = NetworkAgent(
            baseURL: "https://api.example.com", transport: stub, filters: [MiddlewareFilter(Twice())])
        #expect(try await agent.send(Call<String>(.get, "x")).value == "SECOND")
        #expect(try await agent.send(Call<String>(.get, "own")).http.source.name == "middleware")
        #expect(stub.received.count == 2)
    }

    @Test(
        "a middleware that names another host, in any part of the request, moves it without its secrets",
        arguments: [
            Moving { request, _ in request.authority = "evil.example" },
            Moving { request, _ in request.scheme = "http" },
            Moving { request, _ in request.authority = "api.example.com.evil.example" },
            Moving { _, server in server = URL(string: "https://evil.example")! },
        ])
    private func moves(middleware: Moving) async throws {
        let stub = StubTransport(.text("ok"))
        var configuration = AgentConfiguration(baseURL: "https://api.example.com")
        configuration.authorization = .bearer("canary")
        configuration.filters = [MiddlewareFilter(middleware)]
        let agent = NetworkAgent(configuration: configuration, transport: stub)
        _ = try await agent.send(Call<String>(.get, "x") { $0.headers = ["Cookie": "canary"] })
        let sent = try #require(stub.received.first)
        #expect(!sent.urlText.hasPrefix("https://api.example.com/") && sent.urlText.hasSuffix("/x"))
        #expect(!sent.headers.contains(.authorization) && !sent.headers.contains(.cookie))
        agent.configure { $0.trustedOrigins = .any }
        _ = try await agent.send(Call<String>(.get, "x"))
        #expect(stub.received.last?.headers[.authorization] == "Bearer canary")
    }

    @Test(
        "the escapes of a middleware's path are kept, and other characters are percent-encoded",
        arguments: [
            ("/v1/x?page[number]=2&filter=a%20b", "/v1/x?page%5Bnumber%5D=2&filter=a%20b"),
            ("/a%20b/x[1]", "/a%20b/x%5B1%5D"), ("/x?q=a|b%20c", "/x?q=a%7Cb%20c"), ("/é%20", "/%C3%A9%20"),
        ])
    func escapes(path: String, sent: String) async throws {
        let stub = StubTransport(.text("ok"))
        let agent = NetworkAgent(
            baseURL: "https://api.example.com", transport: stub,
            filters: [MiddlewareFilter(Moving { request, _ in request.path = path })])
        _ = try await agent.send(Call<String>(.get, "x"))
        #expect(stub.received.first?.urlText == "https://api.example.com" + sent)
    }

    @Test("a path that would change the host is refused")
    func pathWithoutSlash() async throws {
        let stub = StubTransport(.text("ok"))
        let agent = NetworkAgent(
            baseURL: "https://api.example.com", transport: stub,
            filters: [MiddlewareFilter(Moving { request, _ in request.path = ".evil.example/x" })])
        let error = await #expect(throws: ErrandError.self) { try await agent.send(Call<String>(.get, "x")) }
        #expect(error?.code == .invalidURL && stub.received.isEmpty)
    }

    @Test(
        "passes the filter conformance suite", arguments: FilterConformance.cases(for: { MiddlewareFilter(PassOn()) }))
    func conformance(each: PluginConformanceCase) async throws { try await each.run() }
}

/// Spelled like the runtime's own type, so this module's default isolation doesn't apply.
private typealias Following =
    @Sendable @concurrent (HTTPTypes.HTTPRequest, OpenAPIRuntime.HTTPBody?, URL) async throws -> (
        HTTPTypes.HTTPResponse, OpenAPIRuntime.HTTPBody?
    )

private struct PassOn: ClientMiddleware {
    func intercept(
        _ request: HTTPTypes.HTTPRequest, body: OpenAPIRuntime.HTTPBody?, baseURL: URL, operationID: String,
        next: Following
    ) async throws -> (HTTPTypes.HTTPResponse, OpenAPIRuntime.HTTPBody?) { try await next(request, body, baseURL) }
}

private struct Moving: ClientMiddleware {
    let change: @Sendable (inout HTTPTypes.HTTPRequest, inout URL) -> Void

    func intercept(
        _ request: HTTPTypes.HTTPRequest, body: OpenAPIRuntime.HTTPBody?, baseURL: URL, operationID: String,
        next: Following
    ) async throws -> (HTTPTypes.HTTPResponse, OpenAPIRuntime.HTTPBody?) {
        var (request, server) = (request, baseURL)
        change(&request, &server)
        return try await next(request, body, server)
    }
}

private struct AddLocale: ClientMiddleware {
    func intercept(
        _ request: HTTPTypes.HTTPRequest, body: OpenAPIRuntime.HTTPBody?, baseURL: URL, operationID: String,
        next: Following
    ) async throws -> (HTTPTypes.HTTPResponse, OpenAPIRuntime.HTTPBody?) {
        var request = request
        request.headerFields[.acceptLanguage] = "de"
        var (response, body) = try await next(request, body, baseURL)
        if let name = HTTPField.Name("X-Operation") { response.headerFields[name] = operationID }
        return (response, body)
    }
}

private struct Twice: ClientMiddleware {
    func intercept(
        _ request: HTTPTypes.HTTPRequest, body: OpenAPIRuntime.HTTPBody?, baseURL: URL, operationID: String,
        next: Following
    ) async throws -> (HTTPTypes.HTTPResponse, OpenAPIRuntime.HTTPBody?) {
        if request.path == "/own" { return (HTTPTypes.HTTPResponse(status: .ok), "own") }
        let first = try await next(request, body, baseURL)
        guard first.0.status == .serviceUnavailable else { return first }
        let second = try await next(request, body, baseURL)
        let text = try await String(collecting: second.1 ?? "", upTo: 100)
        return (second.0, OpenAPIRuntime.HTTPBody(text.uppercased()))
    }
}

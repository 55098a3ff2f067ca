import Errand
import ErrandEssentials
import ErrandTesting
import Testing

@Suite("Building a request", .leakChecked) struct BuildingTests {
    @Test("a request in one line has the documented defaults")
    func defaults() throws {
        struct Minimal: Request {}
        let minimal = Minimal()
        #expect(minimal.method == .get && minimal.path == "" && minimal.base == .standard && minimal.parameters == nil)
        #expect(minimal.headers.isEmpty && minimal.authorization == nil && minimal.priority == nil)
        #expect(minimal.timeout == nil && AgentConfiguration().timeout == .seconds(60))
        #expect(minimal.acceptableStatuses == .successful && minimal.acceptableContentTypes == .any)
        #expect(try minimal.httpRequest() == nil)
        #expect(GetUser().acceptableContentTypes == .json)
    }

    @Test("a protocol gives all requests of an app defaults, and a request can override them")
    func appDefaults() throws {
        #expect(try built(AppGet()).headers["X-App"] == "shop")
        #expect(AppGet().timeout == .seconds(20) && AppSlow().timeout == .seconds(90))
    }

    @Test(
        "methods are sent as they are named",
        arguments: [HTTPMethod.get, .post, .head, .put, .delete, .patch, .options, "PROPFIND"])
    func methods(method: HTTPMethod) async throws {
        let stub = StubTransport(.status(200))
        _ = try await NetworkAgent(baseURL: base, transport: stub).send(Plain { $0.method = method })
        #expect(stub.received.map(\.method) == [method])
    }

    @Test("basic credentials are UTF-8 and base64, bearer tokens as they are")
    func authorization() throws {
        let basic = try built(Plain { $0.authorization = .basic(user: "Jürgen", password: "pa:ss") })
        #expect(basic.headers[.authorization] == "Basic " + Data("Jürgen:pa:ss".utf8).base64EncodedString())
        #expect(try built(Plain { $0.authorization = .bearer("t0k") }).headers[.authorization] == "Bearer t0k")
    }

    @Test("credentials are one value with both parts and never appear in a description")
    func credentials() {
        let basic = Authorization.basic(user: "ada", password: "canary")
        #expect("\(basic)" == "Basic •••" && String(reflecting: basic) == "Basic •••")
    }

    @Test("the headers of a request replace the agent's and the credentials")
    func precedence() throws {
        var configuration = AgentConfiguration(baseURL: base)
        configuration.headers["X-Both"] = "agent"
        configuration.authorization = .bearer("agent")
        let agent = NetworkAgent(configuration: configuration, transport: .stub)
        let request = try agent.httpRequest(
            for: Plain {
                $0.authorization = .bearer("request")
                $0.headers = [
                    "x-both": "request", "authorization": "Own", "user-agent": "mine", "accept-language": "tlh",
                ]
            })
        #expect(request.headers["X-Both"] == "request")
        #expect(request.headers.values(of: .authorization) == ["Own"])
        #expect(request.headers.values(of: .userAgent) == ["mine"])
        #expect(request.headers.values(of: .acceptLanguage) == ["tlh"])
        #expect(try agent.httpRequest(for: Plain()).headers[.authorization] == "Bearer agent")
    }

    @Test("the User-Agent names the program, in ASCII")
    func identity() throws {
        let agent = try #require(try built(Plain()).headers[.userAgent])
        #expect(agent.contains("Errand/" + ErrandInfo.version) && agent.utf8.allSatisfy { $0 < 0x7F })
    }

    @Test("your own complete request skips only the build step")
    func complete() async throws {
        let stub = StubTransport(.text("no", status: 404))
        let log = Log<String>()
        let recorder = RecordingAccessory()
        let agent = NetworkAgent(
            baseURL: base, transport: stub, filters: [Signpost(name: "f", log: log)], accessories: [recorder])
        let url = try #require(URL(string: "http://other.example.com/x?y=1"))
        let request = Plain {
            $0.complete = HTTPRequest(.put, url, headers: ["A": "b"], body: .text("raw"))
            $0.path = "ignored"
            $0.headers = ["Ignored": "yes"]
        }
        #expect(await code { try await agent.send(request) } == .unacceptableStatus)
        let sent = try #require(stub.received.first)
        #expect(sent.url == url && sent.method == .put && Array(sent.headers.map(\.name)) == ["A"])
        #expect(sent.body.data == Data("raw".utf8))
        #expect(log.all == ["f>", "<f"] && recorder.problems().isEmpty)
    }

    /// A request that computes its members, and counts how often its body and placement are read.
    private final class Reads: Sendable {
        let (bodies, placements) = (Counter(), Counter())
    }

    private struct Computed: Request {
        let reads: Reads
        let path = "x"
        let method = HTTPMethod.post
        let parameters: Parameters? = ["a": 1]
        var parameterPlacement: ParameterPlacement {
            reads.placements.increment()
            return .form
        }
        var body: RequestBody {
            reads.bodies.increment()
            return .none
        }
    }

    @Test("a body that the request computes is read once")
    func computedMembers() async throws {
        let reads = Reads()
        _ = try await NetworkAgent(baseURL: base, transport: .stub(.status(204))).send(Computed(reads: reads))
        #expect(reads.bodies.value == 1 && reads.placements.value == 1)
    }

    @Test("a plain text body is sent as it is")
    func text() throws {
        let request = try built(
            Plain {
                $0.method = .post; $0.body = .text("phone=+49 1")
            })
        #expect(request.body.data == Data("phone=+49 1".utf8))
        #expect(request.headers[.contentType] == "text/plain; charset=utf-8")
    }

    @Test("a body given as JSON, a form, data or a file knows its type and length")
    func bodies() throws {
        let json = try built(
            Plain {
                $0.method = .post; $0.body = .json(User(id: 1, name: "ü"))
            })
        #expect(try JSONDecoder().decode(User.self, from: #require(json.body.data)) == User(id: 1, name: "ü"))
        #expect(json.headers[.contentType] == "application/json")
        let form = try built(
            Plain {
                $0.method = .delete; $0.body = .form(["a": "1 2"])
            })
        #expect(form.body.data == Data("a=1%202".utf8) && form.body.length == 7)
        let file = FileManager.default.temporaryDirectory.appending(path: "errand-\(UInt64.random(in: 0 ... .max))")
        try Data(repeating: 7, count: 1000).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let sent = try built(
            Plain {
                $0.method = .put; $0.body = .file(file, contentType: "image/png")
            })
        #expect(sent.body.length == 1000 && sent.headers[.contentType] == "image/png" && sent.body.isReplayable)
    }

    @Test("the error of a body that can't be encoded gives the reason, by path and type and without the value")
    func encodingCause() async throws {
        struct Price: Encodable, Sendable { var amounts = [1.5, .infinity] }
        struct Sealed: Error, CustomStringConvertible { let description = "the drawer is locked" }
        struct Wrong: Encodable, Sendable { func encode(to encoder: any Encoder) throws { throw Sealed() } }
        let agent = NetworkAgent(baseURL: base, transport: .stub(.status(200)))
        func message(_ body: RequestBody) async -> String? {
            do { try await agent.send(Plain { $0.body = body }) } catch { return (error as? ErrandError)?.message }
            return nil
        }
        #expect(
            await message(.json(Price()))
                == "the body could not be encoded: /amounts/1: this Double can't be represented")
        #expect(await message(.json(Wrong())) == "the body could not be encoded: the drawer is locked")
        let broken = RequestBody.stream { throw Sealed() }
        #expect(await message(broken) == "the body's source failed: the drawer is locked")
    }

    @Test("a body that cannot be encoded or read fails with a typed error before anything is sent")
    func unsendable() async throws {
        struct Wrong: Encodable, Sendable {
            func encode(to encoder: any Encoder) throws { throw CancellationError() }
        }
        let stub = StubTransport(.status(200))
        let recorder = RecordingAccessory()
        let agent = NetworkAgent(baseURL: base, transport: stub, accessories: [recorder])
        #expect(await code { try await agent.send(Plain { $0.body = .json(Wrong()) }) } == .encodingFailed)
        let missing = try #require(URL(string: "file:///no/such/file"))
        #expect(await code { try await agent.send(Plain { $0.body = .file(missing) }) } == .fileFailed)
        #expect(stub.received.isEmpty && recorder.problems().isEmpty && recorder.activities.count == 2)
    }

    @Test(
        "methods and headers that would break the framing are refused before anything is sent",
        arguments: [
            Plain { $0.method = "GE T" }, Plain { $0.method = "" }, Plain { $0.method = "GET\r\nX: y" },
            Plain { $0.headers = ["X-A": "b\r\nX-B: c"] }, Plain { $0.headers = ["X-A": "b\u{0}c"] },
            Plain { $0.headers = ["X-A": "b\nc"] }, Plain { $0.headers = ["X A": "b"] },
            Plain { $0.headers = ["": "b"] },
            Plain { $0.headers = ["X-A\r\n": "b"] }, Plain { $0.headers = ["X-Ä": "b"] },
            Plain { $0.headers = ["Transfer-Encoding": "chunked"] },
            Plain { $0.headers = ["Content-Length": "5"] },
        ])
    func smuggling(request: Plain<Data>) async {
        let stub = StubTransport(.status(200))
        #expect(await code { try await NetworkAgent(baseURL: base, transport: stub).send(request) } == .invalidRequest)
        #expect(stub.received.isEmpty)
    }

    @Test(
        "priorities become the task's and reach the transport", arguments: [RequestPriority.low, .medium, .high])
    func priority(priority: RequestPriority) async throws {
        struct Looking: Transport {
            let seen: Log<RequestPriority>
            func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse {
                seen.add(options.priority)
                return HTTPResponse(to: request, status: 200)
            }
        }
        let seen = Log<RequestPriority>()
        _ = try await NetworkAgent(baseURL: base, transport: Looking(seen: seen)).send(Plain { $0.priority = priority })
        #expect(seen.all == [priority])
    }

    @Test("a request's timeouts take precedence over the agent's and reach the transport")
    func timeouts() async throws {
        struct Looking: Transport {
            let seen: Log<Duration>
            func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse {
                seen.add(options.timeout)
                return HTTPResponse(to: request, status: 200)
            }
        }
        let seen = Log<Duration>()
        let agent = NetworkAgent(baseURL: base, transport: Looking(seen: seen))
        _ = try await agent.send(Plain())
        _ = try await agent.send(Plain { $0.timeout = .milliseconds(1500) })
        #expect(seen.all == [.seconds(60), .milliseconds(1500)])
    }

    @Test("filters see the original request next to the built one")
    func original() async throws {
        let seen = Log<String>()
        let filter = ClosureFilter { exchange, next in
            if let request = exchange.request as? Plain<Data> { seen.add(request.path + " " + exchange.http.url.path) }
            return try await next(exchange)
        }
        let agent = NetworkAgent(baseURL: base, transport: .stub(.status(200)), filters: [filter])
        _ = try await agent.send(Plain { $0.parameters = ["a": 1] })
        #expect(seen.all == ["plain /v1/plain"])
    }
}

protocol AppRequest: Request {}
extension AppRequest {
    var headers: HTTPHeaders { ["X-App": "shop"] }
    var timeout: Duration? { .seconds(20) }
}
private struct AppGet: AppRequest {}
private struct AppSlow: AppRequest { var timeout: Duration? { .seconds(90) } }

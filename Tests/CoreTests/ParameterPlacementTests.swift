import Errand
import ErrandEssentials
import ErrandTesting
import Testing

@Suite("Parameters in a request", .leakChecked) struct ParameterPlacementTests {
    @Test("a request's query and the path's query are combined, escaped once")
    func encodedPath() throws {
        let request = try built(
            Plain {
                $0.path = "list?q=a%20b"
                $0.query = ["c": "d e"]
            })
        #expect(request.url.absoluteString == base + "/list?q=a%20b&c=d%20e")
    }

    @Test("a query goes before a fragment and after an existing query")
    func placing() throws {
        func url(_ path: String) throws -> String {
            try built(
                Plain {
                    $0.path = path; $0.query = ["k": "v"]
                }
            ).url.absoluteString
        }
        #expect(try url("a") == base + "/a?k=v")
        #expect(try url("a?") == base + "/a?k=v")
        #expect(try url("a?x=1&") == base + "/a?x=1&k=v")
        #expect(try url("a#top") == base + "/a?k=v#top")
        #expect(try url("?x") == base + "/?x&k=v")
    }

    @Test(
        "parameters go into the query for GET, HEAD and DELETE, and into a form otherwise",
        arguments: [HTTPMethod.get, .head, .delete, .post, .put, .patch])
    func automatic(method: HTTPMethod) throws {
        let request = try built(
            Plain {
                $0.method = method; $0.path = "a?x=1"; $0.parameters = ["k": "v w"]
            })
        if [.get, .head, .delete].contains(method) {
            #expect(request.url.absoluteString == base + "/a?x=1&k=v%20w")
            #expect(request.body.isNone)
        } else {
            #expect(request.url.absoluteString == base + "/a?x=1")
            #expect(request.body.data == Data("k=v%20w".utf8))
            #expect(request.headers[.contentType] == "application/x-www-form-urlencoded")
        }
    }

    @Test("an empty form is sent as a form, and the request's own Content-Type stays")
    func forms() throws {
        let empty = try built(
            Plain {
                $0.method = .post; $0.parameters = [:]
            })
        #expect(empty.body.data == Data())
        #expect(empty.headers[.contentType] == "application/x-www-form-urlencoded")
        let own = try built(
            Plain {
                $0.method = .post; $0.parameters = ["a": 1]; $0.headers = ["content-type": "x/y"]
            })
        #expect(own.headers.values(of: .contentType) == ["x/y"])
    }

    @Test("parameters as JSON keep their types, and without parameters there is no body")
    func json() throws {
        let request = try built(
            Plain {
                $0.method = .post
                $0.parameterPlacement = .json
                $0.parameters = ["id": 7, "ok": true, "tags": ["a", nil], "user": ["x": 1.5]]
            })
        let data = try #require(request.body.data)
        struct Sent: Decodable, Equatable { let id: Int, ok: Bool, tags: [String?], user: [String: Double] }
        #expect(
            try JSONDecoder().decode(Sent.self, from: data)
                == Sent(id: 7, ok: true, tags: ["a", nil], user: ["x": 1.5]))
        #expect(request.headers[.contentType] == "application/json")
        let none = try built(
            Plain {
                $0.method = .post; $0.parameterPlacement = .json; $0.parameters = [:]
            })
        #expect(none.body.isNone && none.headers[.contentType] == nil)
    }

    @Test("any method can have a body; parameters then go into the query unless they are placed in the body")
    func both() async throws {
        let request = try built(
            Plain {
                $0.method = .delete; $0.body = .text("why"); $0.parameters = ["k": 1]
            })
        #expect(request.url.absoluteString == base + "/plain?k=1")
        #expect(request.body.data == Data("why".utf8))
        let clash = Plain {
            $0.method = .post; $0.body = .text("x"); $0.parameters = ["k": 1]; $0.parameterPlacement = .form
        }
        #expect(await code { try built(clash) } == .invalidRequest)
    }

    @Test("a value that JSON cannot hold fails before anything is sent")
    func unencodable() async throws {
        let stub = StubTransport(.status(200))
        let agent = NetworkAgent(baseURL: base, transport: stub)
        let request = Plain {
            $0.method = .post; $0.parameterPlacement = .json; $0.parameters = ["x": Double.nan]
        }
        #expect(await code { try await agent.send(request) } == .encodingFailed)
        #expect(stub.received.isEmpty)
    }
}

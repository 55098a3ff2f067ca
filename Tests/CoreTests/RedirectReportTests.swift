import Errand
import ErrandEssentials
import ErrandTesting
import Testing

/// Redirects that other clients got wrong; the reports are in Tests/Lessons.md.
@Suite("Redirects that other clients got wrong", .endsInTime, .leakChecked) struct RedirectReportTests {
    private func agent(_ stub: StubTransport, _ change: (inout AgentConfiguration) -> Void = { _ in }) -> NetworkAgent {
        var configuration = AgentConfiguration(baseURL: "https://a.example.com")
        change(&configuration)
        return NetworkAgent(configuration: configuration, transport: stub)
    }

    @Test(
        "a Location that is only a fragment or only a query keeps the rest of the URL",
        arguments: [
            ("#part", "https://a.example.com/dir/plain?q=1"), ("?r=2", "https://a.example.com/dir/plain?r=2"),
            ("?", "https://a.example.com/dir/plain?"), ("./target", "https://a.example.com/dir/target"),
            ("../target", "https://a.example.com/target"), ("target/", "https://a.example.com/dir/target/"),
        ])
    func relative(location: String, expected: String) async throws {
        let stub = StubTransport(.text("there"))
        stub.on("/dir/plain", response: .redirect(to: location), .text("there"))
        let response = try await agent(stub).send(Plain { $0.path = "https://a.example.com/dir/plain?q=1" })
        #expect(stub.received.count == 2)
        let sent = try #require(stub.received.last).urlText
        #expect(sent.split(separator: "#", omittingEmptySubsequences: false)[0] == expected)
        #expect(response.http.status == 200)
    }

    @Test("a redirect to a fragment of the same URL, again and again, ends with an error")
    func fragmentCircle() async throws {
        let stub = StubTransport(.redirect(to: "#part"))
        let failure = await #expect(throws: ErrandError.self) { try await agent(stub).send(Plain()) }
        #expect(failure?.code == .redirectFailed && stub.received.count <= 21)
    }

    @Test(
        "a Location is followed only if the status is a redirect",
        arguments: [200, 201, 202, 204, 300, 304, 305, 306, 399, 400, 401, 503])
    func notFollowed(status: Int) async throws {
        let stub = StubTransport(.text("there"))
        stub.on(
            "/plain",
            response: StubResponse(status: status, headers: [.location: "/there"], body: Data("here".utf8)))
        let response = try await agent(stub).send(Plain { $0.acceptableStatuses = .any })
        #expect(response.http.status == status && stub.received.count == 1)
        if status != 204, status != 304 { #expect(response.value == Data("here".utf8)) }
    }

    @Test("a redirect without a Location is the response", arguments: [301, 302, 303, 307, 308])
    func withoutLocation(status: Int) async throws {
        let stub = StubTransport(StubResponse(status: status, body: Data("here".utf8)))
        let response = try await agent(stub).send(Plain { $0.acceptableStatuses = .any })
        #expect(response.http.status == status && response.value == Data("here".utf8) && stub.received.count == 1)
    }

    @Test("a redirect whose Location is empty doesn't run in a circle", arguments: ["", " ", "\t"])
    func emptyLocation(location: String) async throws {
        let stub = StubTransport(.redirect(to: location))
        let result = await Task { try await agent(stub).send(Plain { $0.acceptableStatuses = .any }).http.status }
            .result
        #expect(stub.received.count <= 21)
        switch result {
        case .success(let status): #expect(status == 302)
        case .failure(let error): #expect((error as? ErrandError)?.code == .redirectFailed)
        }
    }

    @Test("HEAD stays HEAD, and OPTIONS stays OPTIONS unless a 303 asks for GET", arguments: [301, 302, 303, 307, 308])
    func headAndOptions(status: Int) async throws {
        for method in [HTTPMethod.head, .options] {
            let stub = StubTransport(.text(""))
            stub.on("/plain", response: .redirect(to: "/there", status: status))
            _ = try await agent(stub).send(Plain { $0.method = method })
            #expect(stub.received.last?.method == (status == 303 && method == .options ? .get : method))
        }
    }

    @Test("no request tells the next address where it came from")
    func noReferer() async throws {
        let stub = StubTransport(.text("there"))
        stub.on("/plain", response: .redirect(to: "https://b.example.com/there"))
        stub.on("/secret", response: .redirect(to: "http://a.example.com/open"))
        let agent = agent(stub) { $0.redirects.allowsInsecure = true }
        _ = try await agent.send(Plain { $0.query = ["token": "s"] })
        _ = try await agent.send(Plain { $0.path = "secret" })
        #expect(stub.received.count == 4 && stub.received.allSatisfy { !$0.headers.contains("Referer") })
    }

    @Test(
        "credentials aren't sent to another scheme, port or host after a redirect",
        arguments: [
            "http://a.example.com/there", "https://a.example.com:8443/there", "https://b.example.com/there",
            "https://a.example.com.evil.example/there", "https://a.example.com@b.example.com/there",
        ])
    func otherOrigin(location: String) async throws {
        let stub = StubTransport(.text("there"))
        stub.on("/plain", response: .redirect(to: location))
        let agent = agent(stub) { configuration in
            configuration.redirects.allowsInsecure = true
            configuration.headers.authorize(.basic(user: "u", password: "p"))
            configuration.headers.set("X-Api-Key", "k", sensitive: true)
            configuration.headers.set("X-App", "shop")
        }
        _ = try await agent.send(Plain { $0.headers.set(.cookie, "a=1") })
        let (first, last) = (try #require(stub.received.first), try #require(stub.received.last))
        #expect(stub.received.count == 2 && first.headers[.authorization] != nil && last.headers["X-App"] == "shop")
        for name in [HTTPHeaderName.authorization, "X-Api-Key", .cookie] { #expect(!last.headers.contains(name)) }
        #expect(!last.urlText.contains("@"))
    }

    @Test(
        "a line break or another control character in a value is an error before anything is sent",
        arguments: ["a\n", "a\r\nX-Injected: 1", "\ra", "a\u{0}b", "a\r", "a\u{B}b"])
    func lineBreaks(value: String) async throws {
        let stub = StubTransport(.text("there"))
        let failure = await #expect(throws: ErrandError.self) {
            try await agent(stub).send(Plain { $0.headers = ["X-Value": value] })
        }
        #expect(failure?.code == .invalidRequest && stub.received.isEmpty)
        #expect(failure?.description.contains("Injected") != true)
    }

    @Test("a name that no field can have is an error before anything is sent")
    func wrongNames() async throws {
        let stub = StubTransport(.text("there"))
        for name in ["X Name", "X-Name\n", "", "X:Name", "Ünï"] {
            await #expect(throws: ErrandError.self) {
                try await agent(stub).send(Plain { $0.headers = HTTPHeaders([.init(HTTPHeaderName(name), "1")]) })
            }
        }
        #expect(stub.received.isEmpty)
    }

    @Test(
        "a Host that the app has set is sent only to its own origin",
        arguments: [("/there", "app.example"), ("https://b.example.com/there", nil)])
    func ownHost(location: String, host: String?) async throws {
        let stub = StubTransport(.text("there"))
        stub.on("/plain", response: .redirect(to: location))
        _ = try await agent(stub).send(Plain { $0.headers = ["Host": "app.example"] })
        #expect(stub.received.map { $0.headers[.host] } == ["app.example", host])
    }

    @Test("a Referer that the app has set is sent with each request of a chain, and not replaced by the last URL")
    func ownReferer() async throws {
        let stub = StubTransport(.text("there"))
        stub.on("/plain", response: .redirect(to: "/second"))
        stub.on("/second", response: .redirect(to: "/third"))
        _ = try await agent(stub).send(Plain { $0.headers = ["Referer": "https://a.example.com/own"] })
        #expect(stub.received.map { $0.headers["Referer"] } == Array(repeating: "https://a.example.com/own", count: 3))
    }

    @Test("a deadline counts from the first request of a chain, and not from its last redirect")
    func deadline() async throws {
        let time = ManualTimeSource()
        let end = time.now.advanced(by: .seconds(5))
        let stub = StubTransport { _ in
            time.advance(by: .seconds(2))
            // The deadline ends this wait.
            if time.now >= end { try await Gate().wait() }
            return .redirect(to: "/plain?again")
        }
        let agent = NetworkAgent(
            configuration: AgentConfiguration(baseURL: "https://a.example.com"), transport: stub, time: time)
        let request = Plain { ($0.deadline, $0.timeout) = (.seconds(5), .seconds(4)) }
        #expect(await code { try await agent.send(request) } == .deadlineExceeded)
        #expect(stub.received.count == 3)
    }

    @Test("after a redirect to another origin, a key is only sent if its field isn't marked as sensitive")
    func ownKeys() async throws {
        for name in ["X-API-Key", "X-Auth-Token", "Api-Key"] as [HTTPHeaderName] {
            for isMarked in [true, false] {
                let stub = StubTransport(.text("there"))
                stub.on("/plain", response: .redirect(to: "https://b.example.com/there"))
                var headers = HTTPHeaders()
                headers.set(name, "canary", sensitive: isMarked)
                let sent = headers
                _ = try await agent(stub).send(Plain { $0.headers = sent })
                #expect(stub.received.map { $0.headers.contains(name) } == [true, !isMarked], "\(name)")
            }
        }
    }
}

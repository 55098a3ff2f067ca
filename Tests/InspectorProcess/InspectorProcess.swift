import Errand
import ErrandInspector
import ErrandTesting
import Foundation

/// `errand-inspector-process`
///
/// Prints the address of an inspector, and then obeys the lines of standard input. Each command ends with a line
/// "done".
///
///     shop                a batch, a chain, redirects, retries, a cache, images, a socket, events and an upload
///     send COUNT RATE     stubbed requests per second, with paths, statuses and sizes that follow from their numbers
///     transfers           a download, an upload, and a stream that stop halfway, and a download that is cut off
///     finish              lets these transfers go on, and waits for them
///     hostile             markup, escapes and secrets in every part of a response
///     get PATH            one request through the inspector's filters; prints its status or its error
@main
struct InspectorProcess {
    static func main() async throws {
        let inspector = TrafficInspector()
        let address = try inspector.start(inReleaseBuilds: true) { _ in }
        say(address.absoluteString)
        let stubs = StubbedTraffic(inspector)
        var shop: ShopTraffic?
        var transfers: TransferTraffic?
        while let line = await nextLine() {
            let words = line.split(separator: " ").map(String.init)
            switch words.first {
            case "shop":
                let traffic = try shop ?? ShopTraffic(inspector)
                shop = traffic
                try await traffic.run()
            case "transfers": transfers = try TransferTraffic(inspector)
            case "finish":
                try await transfers?.finish()
                transfers = nil
            case "send": await stubs.send(Int(words[1]) ?? 0, perSecond: Int(words[2]) ?? 1000)
            case "hostile": await stubs.sendHostile()
            case "get": say(await stubs.get(words[1]))
            default: say("unknown: \(line)")
            }
            say("done")
        }
    }

    /// Reads on a separate thread, because reading blocks.
    @concurrent private static func nextLine() async -> String? { readLine() }

    static func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }
}

/// Responses without a server.
struct StubbedTraffic {
    private let agent: NetworkAgent
    private let hostile: NetworkAgent

    static let secret = "canary-0123456789-secret"
    static let markup = "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
    static let escapes = "\u{1B}[31mred\u{1B}[0m \u{202E}desrever\u{202C} \u{7}bell"

    init(_ inspector: TrafficInspector) {
        let stub = StubTransport(maximumRecordedRequests: 0) { request in
            let number = Int(request.urlText.split(separator: "/").last ?? "") ?? 0
            let status = [200, 201, 404, 500][number % 4]
            return StubResponse(
                status: status, headers: ["Content-Type": "application/json"],
                body: Data(#"{"number":\#(number),"padding":"\#(String(repeating: "x", count: number % 100))"}"#.utf8))
        }
        agent = NetworkAgent(
            baseURL: "https://api.example.com", transport: stub, filters: inspector.filters, accessories: [inspector])
        let bad = StubTransport { _ in
            StubResponse(
                status: 200,
                headers: [
                    "Content-Type": "text/html", "X-Markup": Self.markup, "Set-Cookie": "session=\(Self.secret)",
                    "X-Echo": Self.secret,
                ],
                body: Data("<p>\(Self.markup)\(Self.escapes) \(Self.secret)</p>".utf8))
        }
        hostile = NetworkAgent(
            baseURL: "https://evil.example", transport: bad, accessories: [inspector.named("<b>evil</b>")])
        inspector.explainRequests(of: agent)
    }

    func send(_ count: Int, perSecond rate: Int) async {
        let start = ContinuousClock.now
        for number in 0..<count {
            _ = try? await agent.send(Call<Data>(.get, "items/\(number)"))
            // Sends the requests in bursts, because short sleeps take longer than they should.
            if number % 100 == 99 {
                try? await Task.sleep(until: start + .seconds(Double(number) / Double(rate)))
            }
        }
    }

    func sendHostile() async {
        let call = Call<Data>(
            .post, "a/%3Cscript%3E", query: ["token": .string(Self.secret), "q": .string(Self.markup)],
            body: .data(
                Data(#"{"password":"\#(Self.secret)","text":"</script>"}"#.utf8), contentType: "application/json")
        ) { call in
            call.headers = [
                "Authorization": "Bearer \(Self.secret)", "X-Long": String(repeating: "n", count: 64 << 10),
            ]
            call.label = Self.markup + Self.escapes + Self.secret
        }
        _ = try? await hostile.send(call)
    }

    func get(_ path: String) async -> String {
        do {
            let response = try await agent.send(
                Call<HTTPResponse>(.get, path) { $0.acceptableStatuses = StatusCodes(100...599) })
            return "\(response.value.status) \(response.value.data.count)"
        } catch {
            return Redaction.name(of: error)
        }
    }
}

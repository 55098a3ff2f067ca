import Errand
import ErrandEssentials
import ErrandTesting
import Testing

@Suite("Chains of redirects", .leakChecked) struct RedirectChainTests {
    private let names: [HTTPHeaderName] = [.authorization, .cookie, .proxyAuthorization, "X-Api-Key"]

    /// Sends a request with secrets through these URLs, and returns how many of the secrets reached each of them.
    private func secrets(through urls: [String], _ status: Int = 302) async throws -> [Int] {
        let stub = StubTransport { request in
            let index = urls.firstIndex(of: request.url.absoluteString) ?? 0
            return index + 1 < urls.count ? .redirect(to: urls[index + 1], status: status) : .text("end")
        }
        var headers: HTTPHeaders = ["Cookie": "canary", "Proxy-Authorization": "canary"]
        headers.add("X-Api-Key", "canary", sensitive: true)
        let sent = headers
        _ = try await NetworkAgent(baseURL: "https://api.example", transport: stub).send(
            Call<Void>(.get, urls[0]) {
                $0.authorization = .bearer("canary")
                $0.headers = sent
            })
        #expect(stub.received.map(\.url.absoluteString) == urls)
        return stub.received.map { request in names.count { request.headers.contains($0) } }
    }

    @Test("secrets that a redirect to another origin has removed don't return on its later redirects")
    func within() async throws {
        let (a, b) = ("https://a.example", "https://b.example")
        #expect(try await secrets(through: ["\(a)/", "\(b)/1", "\(b)/2"]) == [4, 0, 0])
        #expect(try await secrets(through: ["\(a)/", "\(a)/1", "\(b)/2", "\(b)/3", "\(b)/4"], 307) == [4, 4, 0, 0, 0])
    }

    @Test("secrets don't return if a redirect leads back to their origin, because another server chose the target")
    func back() async throws {
        let (a, b) = ("https://a.example", "https://b.example")
        #expect(try await secrets(through: ["\(a)/", "\(b)/1", "\(a)/2", "\(a)/3"]) == [4, 0, 0, 0])
        #expect(try await secrets(through: ["\(a)/", "\(a):8443/1", "\(a)/2"], 308) == [4, 0, 0])
    }

    @Test("a subdomain, a parent domain and the same host without TLS are other origins")
    func related() async throws {
        let host = "https://shop.example"
        for other in ["https://www.shop.example/", "https://example/", "https://shop.example.evil.example/"] {
            #expect(try await secrets(through: ["\(host)/", other]) == [4, 0], "\(other)")
        }
        #expect(try await secrets(through: ["http://shop.example/", "\(host)/"]) == [4, 0])
    }
}

@Suite("Values that are URLs or already escaped", .leakChecked) struct EscapedValueTests {
    private func sent(_ change: @escaping (inout Call<Void>) -> Void) async throws -> String {
        let stub = StubTransport(.text(""))
        var call = Call<Void>(.get, "https://api.example/v")
        change(&call)
        try await NetworkAgent(baseURL: "https://api.example", transport: stub).send(call)
        return try #require(stub.received.first).urlText
    }

    @Test("a presigned URL as a value arrives unchanged: its escapes are escaped once more")
    func presigned() async throws {
        let url = "http://example.com?q=foo%2Fa%20b%2Ac&d=1+2"
        let text = try await sent { $0.query = ["u": .string(url)] }
        #expect(text == "https://api.example/v?u=http%3A//example.com?q%3Dfoo%252Fa%2520b%252Ac%26d%3D1%2B2")
        let form = try await sent {
            $0.method = .post
            $0.path = "https://api.example/v"
            $0.query = ["a": "%25s3"]
        }
        #expect(form == "https://api.example/v?a=%2525s3")
    }

    @Test("parameters join the query of the path, and a request without parameters keeps it")
    func joined() async throws {
        for query: Parameters in [[:], ["b": 2]] {
            let text = try await sent {
                $0.path = "https://api.example/v?a=1%2F2&c"
                $0.query = query
            }
            #expect(text == "https://api.example/v?a=1%2F2&c" + (query.items.isEmpty ? "" : "&b=2"))
        }
    }

    @Test("objects in a list keep their fields together if the style has indexes")
    func objects() throws {
        let friends: ParameterValue = [["name": "tom", "age": 13], ["name": "bob", "age": 14]]
        let text = try ParameterEncoding(arrays: .indexed).encode(["friends": friends, "name": "jack"])
        #expect(
            text.replacing("%5B", with: "[").replacing("%5D", with: "]")
                == "friends[0][age]=13&friends[0][name]=tom&friends[1][age]=14&friends[1][name]=bob&name=jack")
    }
}

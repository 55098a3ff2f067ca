import ErrandHTTP
import ErrandTLS
import Foundation
import Testing

@Suite("Client certificates by origin", .endsInTime, .leakChecked) struct ClientIdentitiesTests {
    private typealias Identities = ClientIdentities<String>

    private func found(_ identities: Identities, _ text: String) throws -> String? {
        try identities.choice(for: try #require(URL(string: text)))?.identity
    }

    @Test("a certificate belongs to its scheme, host and port, however these are written") func origins() throws {
        let identities: Identities = [
            "https://API.example.com:443/path?query": "a", "https://api.example.com:8443": "b", "https://[::1]:9": "c",
        ]
        for text in ["https://api.example.com", "https://api.EXAMPLE.com/other", "HTTPS://api.example.com:443/#x"] {
            #expect(try found(identities, text) == "a")
            #expect(identities[text] == "a")
        }
        #expect(try found(identities, "https://api.example.com:8443/") == "b")
        #expect(try found(identities, "https://[::1]:9/") == "c")
        for text in [
            "http://api.example.com", "http://api.example.com:443", "https://api.example.com:444",
            "https://example.com",
            "https://api.example.com.evil.test", "https://evil.test/https://api.example.com",
            "https://api.example.com.",
            "https://api.example.com@evil.test/", "https://[::1]/",
        ] { #expect(try found(identities, text) == nil, "\(text)") }
        #expect(identities["*"] == nil)
        #expect(
            identities.description
                == "ClientIdentities(https://[::1]:9, https://api.example.com:443, https://api.example.com:8443)")
    }

    @Test("the star stands for all other https origins") func others() throws {
        let identities: Identities = ["*": "others", "https://a.example.com": "a"]
        #expect(try found(identities, "https://a.example.com/") == "a")
        #expect(try found(identities, "https://b.example.com/") == "others")
        #expect(identities["*"] == "others" && identities["https://b.example.com"] == nil)
        identities["*"] = nil
        #expect(try found(identities, "https://b.example.com/") == nil)
    }

    @Test("a challenge's host and port find the same certificate as the request's URL") func hosts() throws {
        let identities: Identities = [
            "https://api.example.com": "a", "https://api.example.com:8443": "b", "https://[::1]:9": "c",
        ]
        func found(_ host: String, _ port: Int) throws -> String? {
            try identities.choice(host: host, port: port)?.identity
        }
        #expect(try found("api.example.com", 443) == "a" && found("API.example.com", 0) == "a")
        #expect(try found("api.example.com", 8443) == "b" && found("api.example.com", 444) == nil)
        #expect(try found("::1", 9) == "c" && found("[::1]", 9) == "c" && found("::1", 443) == nil)
        for host in ["", "a b", "api.example.com/", "x@api.example.com", "api.example.com:443", "evil.test"] {
            #expect(try found(host, 443) == nil, "\(host)")
        }
    }

    @Test("a certificate can be replaced: its number and the collection's revision change") func rotation() throws {
        let identities: Identities = ["https://a.example.com": "old"]
        let url = try #require(URL(string: "https://a.example.com/"))
        let (old, revision) = (try identities.choice(for: url), identities.revision)
        #expect(try identities.choice(for: url)?.number == old?.number && identities.revision == revision)
        identities["https://a.example.com"] = "new"
        let new = try identities.choice(for: url)
        #expect(new?.identity == "new" && new?.number != old?.number && identities.revision > revision)
        identities["https://a.example.com"] = nil
        #expect(try identities.choice(for: url) == nil && identities.revision > revision + 1)
    }

    @Test(
        "an origin that isn't an https URL fails every lookup, until it's removed",
        arguments: ["api.example.com", "http://api.example.com", "", "ftp://x", "https://", "https://a b"])
    func invalid(origin: String) throws {
        let identities: Identities = [origin: "a", "https://b.example.com": "b"]
        let error = #expect(throws: ErrandError.self) { try found(identities, "https://b.example.com") }
        #expect(error?.code == .insecureConnection && error?.message.contains("is for \"\(origin)\"") == true)
        #expect(throws: ErrandError.self) { try identities.choice(host: "b.example.com", port: 443) }
        identities[origin] = nil
        #expect(try found(identities, "https://b.example.com") == "b")
    }

    @Test("descriptions and dumps don't show a certificate") func secrets() {
        let identities: Identities = ["https://a.example.com": "canary", "*": "canary"]
        var dumped = ""
        dump(identities, to: &dumped)
        for text in ["\(identities)", String(reflecting: identities), dumped] { #expect(!text.contains("canary")) }
    }
}

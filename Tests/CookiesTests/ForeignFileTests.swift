import Errand
import ErrandCookies
import Foundation
import Testing

@Suite("Cookie files of other programs", .endsInTime, .leakChecked) struct ForeignFileTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "cookies-\(UUID().uuidString)")
    private var file: URL { folder.appending(path: "cookies.txt") }

    init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

    private func remove() { try? FileManager.default.removeItem(at: folder) }

    /// Reads lines whose fields are separated by single blanks here.
    private func jar(_ lines: String...) throws -> CookieJar {
        try Data(lines.map { $0.replacing(" ", with: "\t") + "\n" }.joined().utf8).write(to: file)
        return try CookieJar(file: file, at: epoch)
    }

    @Test("an expiry with a fraction of a second, as extensions of browsers write it, keeps its cookie")
    func fractions() throws {
        defer { remove() }
        let jar = try jar(
            "example.com FALSE / FALSE 1000000060.473932 soon x", "example.com FALSE / FALSE 999999999.9 gone x",
            "example.com FALSE / FALSE 1000000060. dot x", "example.com FALSE / FALSE .5 nothing x",
            "example.com FALSE / FALSE 1.0e10 exponent x", "example.com FALSE / FALSE 1.2.3 twice x")
        #expect(jar.field(for: "http://example.com/") == "soon=x; dot=x")
        #expect(jar.cookies.first?.expiry == epoch + 60)
    }

    @Test("an empty expiry, as Python writes it, is a session cookie's")
    func emptyExpiry() throws {
        defer { remove() }
        let jar = try jar("example.com FALSE / FALSE  session x", "example.com FALSE / FALSE   nameless")
        #expect(jar.field(for: "http://example.com/") == "session=x; nameless")
        #expect(jar.cookies.allSatisfy { $0.expiry == nil })
        #expect(try CookieJar(file: file, droppingSessionCookies: true, at: epoch).count == 0)
    }

    @Test("a line without the expiry field is skipped, and its name isn't read as the expiry")
    func missingExpiry() throws {
        defer { remove() }
        let jar = try jar(
            "www.example.com FALSE / FALSE renderid MyRenderID", "www.example.com TRUE / FALSE 1510820937 fav x")
        #expect(jar.field(for: "http://www.example.com/") == "fav=x")
    }

    @Test("flags are read in any case, and the flag, not the dot, decides whether subdomains get the cookie")
    func flags() throws {
        defer { remove() }
        let jar = try jar(
            ".example.com true / true 0 all x", ".example.com false / false 0 host x",
            "example.com True / False 0 dotless x")
        #expect(jar.field(for: "https://example.com/") == "all=x; host=x; dotless=x")
        #expect(jar.field(for: "http://www.example.com/") == "dotless=x")
    }

    @Test("the cookies of an IPv6 address are read back from a file")
    func addresses() async throws {
        defer { remove() }
        let jar = try jar("#HttpOnly_::1 FALSE /notifications/ FALSE 0 id 7")
        #expect(jar.field(for: "http://[::1]:8017/notifications/x") == "id=7")
        jar.set("id=8; Path=/notifications/; HttpOnly", from: "http://[::1]:8017/notifications/")
        try await jar.save(at: epoch)
        let again = try CookieJar(file: file, at: epoch)
        #expect(again.count == 1 && again.field(for: "http://[::1]:8017/notifications/x") == "id=8")
    }

    @Test("a host with one label keeps its cookies, and its domain cookies are sent only to that host")
    func singleLabels() throws {
        defer { remove() }
        let jar = try jar(
            "keycloak FALSE / FALSE 0 host x", ".keycloak TRUE / FALSE 0 domain x", ".localhost TRUE / FALSE 0 l x",
            ".com TRUE / FALSE 0 suffix x")
        #expect(jar.field(for: "http://keycloak:8443/") == "host=x; domain=x")
        #expect(jar.field(for: "http://localhost/") == "l=x")
        #expect(jar.field(for: "http://x.localhost/").isEmpty && jar.field(for: "http://example.com/").isEmpty)
    }

    @Test("an empty file, or a file with other content, has no cookies and doesn't cause an error")
    func damaged() throws {
        defer { remove() }
        for content in [
            Data(count: 5_000), Data("<!doctype html>\n<p>\tSign in\t</p>\n".utf8), Data("{\"a\": 1}".utf8),
        ] {
            try content.write(to: file)
            #expect(try CookieJar(file: file, at: epoch).count == 0)
        }
    }
}

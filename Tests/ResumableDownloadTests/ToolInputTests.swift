#if os(Linux) || os(macOS)
import Errand
import Foundation
import Testing

@testable import errand_download

@Suite("errand-download: input", .leakChecked) struct ToolInputTests {
    private func mistake(_ body: () throws -> Void) -> String? {
        do { try body() } catch { return (error as? DownloadArguments.Mistake)?.message }
        return nil
    }

    @Test("pasted URLs are read: credentials are split off, and the rest is encoded once")
    func urls() throws {
        let url = try TargetURL("HTTPS://me%40home:s%3Acret@Example.com.:8443/a b/ü%20[1].mp4?q=ä&x=%zz#part")
        #expect(url.text == "https://Example.com.:8443/a%20b/%C3%BC%20%5B1%5D.mp4?q=%C3%A4&x=%25zz")
        #expect(url.user == "me@home" && url.password == "s:cret" && url.host == "example.com")
        #expect(url.name == "ü [1].mp4" && !url.masked.contains("%C3%A4"))
        #expect(try TargetURL("http://[::1]:80/").host == "::1" && TargetURL("http://h").name == "h")
        #expect(try TargetURL("http://h/a%0Ab").name == "a<000A>b")
        #expect(try TargetURL("http://user@h/").password == nil)
        for wrong in ["http://", "http:///x", "http://a b/", "http://h:99999/", "http://ü.example/", "ftp://h/"] {
            #expect(mistake { _ = try TargetURL(wrong) } != nil, "\(wrong)")
        }
        #expect(mistake { _ = try TargetURL("http://me:secret@a b/") }?.contains("secret") == false)
    }

    @Test("lists of URLs can contain comments, blank lines, CR LF and a byte order mark")
    func lists() throws {
        let text = "\u{FEFF}# films\r\n\r\n  https://example.com/a  \r\nhttp://example.com/b\n\t# end"
        #expect(try InputList.parse(Data(text.utf8), name: "l") == ["https://example.com/a", "http://example.com/b"])
        #expect(
            mistake { _ = try InputList.parse(Data("http://a\n\nfilm.mp4".utf8), name: "list.txt") }
                == "list.txt, line 3: film.mp4 is not an http or https URL")
        #expect(mistake { _ = try InputList.parse(Data("# none".utf8), name: "l") } == "l doesn't contain a URL")
        #expect(mistake { _ = try InputList.read("/nowhere/l") }?.contains("No such file") == true)
        #expect(mistake { _ = try InputList.read("/") }?.contains("cannot be read") == true)
    }

    @Test("netrc files can contain machines, default, quoted tokens, comments and macros")
    func netrc() {
        let netrc = Netrc(
            """
            # machine commented login no
            machine A.example. login "me and \\"you\\"" password "two words"
            machine b.example
                login first password one account x
            machine b.example login second password #two
            macdef init
            machine macro.example login no password no
            bin

            machine c.example password only
            default login anonymous password guest
            machine late.example login l password p
            machine
            """)
        #expect(
            netrc.entry(for: "a.EXAMPLE") == .init(machine: "a.example", login: "me and \"you\"", password: "two words")
        )
        #expect(netrc.entry(for: "b.example")?.password == "one")
        #expect(netrc.entry(for: "b.example", login: "second")?.password == "#two")
        #expect(netrc.entry(for: "macro.example")?.login == "anonymous")
        #expect(netrc.entry(for: "c.example")?.password == "only" && netrc.entry(for: "c.example")?.login == nil)
        #expect(netrc.entry(for: "late.example")?.login == "l")
        #expect(netrc.entry(for: "commented", login: "no") == nil)
        #expect(Netrc("").entry(for: "a") == nil && Netrc("login x password y").entries.isEmpty)
        #expect(Netrc("machine a login \"open").entry(for: "a")?.login == "open")
    }

    @Test("credentials come from the URL, then --user, then netrc, and a missing password is requested once")
    func credentials() throws {
        var asked: [String] = []
        let netrc = Netrc("machine a.example login n password p\nmachine b.example login me password q")
        func make(_ user: String?, _ netrc: Netrc?) -> Credentials {
            Credentials(user: user, netrc: netrc) { prompt in
                asked.append(prompt)
                return "typed"
            }
        }
        func basic(_ user: String, _ password: String) -> Authorization { .basic(user: user, password: password) }
        var both = make("me", netrc)
        #expect(try both.authorization(for: TargetURL("https://u:v@a.example/")) == basic("u", "v"))
        #expect(try both.authorization(for: TargetURL("https://b.example/")) == basic("me", "q"))
        #expect(try both.authorization(for: TargetURL("https://a.example/")) == basic("me", "typed"))
        #expect(try both.authorization(for: TargetURL("https://c.example/")) == basic("me", "typed"))
        #expect(asked == ["Password for me: "])
        var alone = make(nil, netrc)
        #expect(try alone.authorization(for: TargetURL("https://a.example/")) == basic("n", "p"))
        #expect(try alone.authorization(for: TargetURL("https://c.example/")) == nil)
        var full = make("me:a:b", netrc)
        #expect(try full.authorization(for: TargetURL("https://b.example/")) == basic("me", "a:b"))
    }

    @Test("headers are checked, and can be read from files")
    func headers() throws {
        let folder = try Folder()
        try Data("Authorization: Bearer canary\n\nX-A: 1\n".utf8).write(to: folder.file("h"))
        let headers = try HeaderLines.parse(["X-B:2", "@\(folder.file("h").path)"])
        #expect(headers["X-A"] == "1" && headers["X-B"] == "2" && headers.allSatisfy(\.isSensitive))
        #expect(!"\(headers)".contains("canary"))
        for wrong in ["a", "a b: c", ": c", "X: a\u{7}", "Range: bytes=0-", "@/nowhere/h"] {
            #expect(mistake { _ = try HeaderLines.parse([wrong]) } != nil, "\(wrong)")
        }
    }

    @Test("all downloads together keep to a rate, and idle time isn't saved up")
    func rate() {
        let limit = RateLimit(bytesPerSecond: 1000)
        let start = ContinuousClock.now
        #expect(limit.due(500, at: start) == start.advanced(by: .milliseconds(500)))
        #expect(limit.due(500, at: start) == start.advanced(by: .seconds(1)))
        let later = start.advanced(by: .seconds(100))
        #expect(limit.due(100, at: later) == later.advanced(by: .milliseconds(100)))
        #expect(limit.pieceSize == 100 && RateLimit(bytesPerSecond: 1).pieceSize == 1)
        #expect(RateLimit(bytesPerSecond: 1e15).pieceSize == 256 << 10)
    }
}
#endif

#if os(Linux)
import Testing

@testable import ErrandCurlTransport

@Suite("The authorities of the system")
struct AuthoritiesTests {
    private static let debian = "/etc/ssl/certs/ca-certificates.crt"
    private static let alpine = "/etc/ssl/cert.pem"

    @Test("a libcurl whose own file or directory exists is left to it")
    func builtIn() {
        for place in ["/opt/roots.pem", "/etc/ssl/certs"] {
            let found = SystemAuthorities.choose(builtIn: ["/opt/roots.pem", "/etc/ssl/certs"]) {
                [place, Self.debian].contains($0)
            }
            #expect(found == .builtIn)
        }
    }

    @Test("one that has none, or was built for another distribution, gets the first file that exists")
    func elsewhere() {
        #expect(SystemAuthorities.choose(builtIn: []) { _ in true } != .builtIn)
        #expect(SystemAuthorities.choose(builtIn: [Self.debian]) { $0 == Self.alpine } == .file(Self.alpine))
        let both = SystemAuthorities.choose(builtIn: []) { [Self.debian, Self.alpine].contains($0) }
        #expect(both == .file(Self.debian))
        #expect(SystemAuthorities.choose(builtIn: ["/opt/roots.pem"]) { _ in false } == .builtIn)
    }

    @Test("Android's directories come first, and those of the updated module before those of the system")
    func android() {
        let places = SystemAuthorities.directories
        #expect(SystemAuthorities.choose(builtIn: [places[1]]) { places.contains($0) } == .directory(places[0]))
        #expect(SystemAuthorities.choose(builtIn: []) { $0 == places[1] } == .directory(places[1]))
    }
}
#endif

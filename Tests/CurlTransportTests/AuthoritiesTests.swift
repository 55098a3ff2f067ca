#if os(Linux)
import Testing

@testable import ErrandCurlTransport

@Suite("The authorities of the system")
struct AuthoritiesTests {
    private static let debian = "/etc/ssl/certs/ca-certificates.crt"
    private static let alpine = "/etc/ssl/cert.pem"
    private static let directory = "/etc/ssl/certs"

    @Test("a libcurl whose own file exists uses it, and so does a libcurl with only a directory")
    func builtIn() {
        let places = ["/opt/roots.pem", Self.directory, Self.debian]
        let found = SystemAuthorities.choose(file: "/opt/roots.pem", directory: Self.directory) { places.contains($0) }
        #expect(found == .builtIn)
        let alone = SystemAuthorities.choose(file: nil, directory: Self.directory) { places.contains($0) }
        #expect(alone == .builtIn)
        #expect(SystemAuthorities.choose(file: "/opt/roots.pem", directory: nil) { places.contains($0) } == .builtIn)
    }

    @Test("a libcurl without a file of authorities, or built for another distribution, gets the first file that exists")
    func elsewhere() {
        #expect(SystemAuthorities.choose(file: nil, directory: nil) { _ in true } != .builtIn)
        #expect(SystemAuthorities.choose(file: Self.debian, directory: nil) { $0 == Self.alpine } == .file(Self.alpine))
        let both = SystemAuthorities.choose(file: nil, directory: nil) { [Self.debian, Self.alpine].contains($0) }
        #expect(both == .file(Self.debian))
        #expect(SystemAuthorities.choose(file: "/opt/roots.pem", directory: nil) { _ in false } == .builtIn)
    }

    @Test("a libcurl whose file is missing gets a system file next to its directory, or the directory alone")
    func directoryWithoutFile() {
        let fedora = [Self.directory, SystemAuthorities.files[1]]
        let found = SystemAuthorities.choose(file: Self.debian, directory: Self.directory) { fedora.contains($0) }
        #expect(found == .file(SystemAuthorities.files[1]))
        let alone = SystemAuthorities.choose(file: Self.debian, directory: Self.directory) { $0 == Self.directory }
        #expect(alone == .directory(Self.directory))
    }

    @Test("Android's directories come first, and the updated module's before the system's")
    func android() {
        let places = SystemAuthorities.directories
        let updated = SystemAuthorities.choose(file: Self.debian, directory: places[1]) { _ in true }
        #expect(updated == .directory(places[0]))
        let old = SystemAuthorities.choose(file: nil, directory: nil) { $0 == places[1] }
        #expect(old == .directory(places[1]))
    }
}
#endif

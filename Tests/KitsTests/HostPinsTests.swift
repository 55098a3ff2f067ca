import ErrandTLS
import Testing

@Suite("Pins by host", .leakChecked) struct HostPinsTests {
    @Test("every spelling of a host has the same pins")
    func pins() throws {
        let pins = try HostPins(["API.test": ["a"], "*": ["b"]])
        for host in ["api.test", "api.test.", "API.TEST"] { #expect(try pins.keys(for: host) == ["a"]) }
        for host in ["api.test.evil.test", "www.api.test", "notapi.test"] { #expect(try pins.keys(for: host) == ["b"]) }
        #expect(try pins.keys(for: "other.test") == ["b"])
        #expect(throws: HostPins.Fault.self) { try pins.keys(for: "a..b") }
        #expect(throws: HostPins.Fault.self) { try HostPins(["api.test": ["a"], "api.test.": ["b"]]) }
        #expect(try HostPins([:]).keys(for: "a..b") == nil)
    }
}

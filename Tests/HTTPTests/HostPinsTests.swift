import ErrandHTTP
import Testing

@Suite("Pins by host", .leakChecked) struct HostPinsTests {
    @Test("pins are found by every way of writing their host")
    func pins() throws {
        let pins = try HostPins(["API.test": ["a"], "*": ["b"]])
        for host in ["api.test", "api.test.", "API.TEST"] { #expect(try pins.keys(for: host) == ["a"]) }
        #expect(try pins.keys(for: "other.test") == ["b"])
        #expect(throws: HostPins.Fault.self) { try pins.keys(for: "a..b") }
        #expect(throws: HostPins.Fault.self) { try HostPins(["api.test": ["a"], "api.test.": ["b"]]) }
        #expect(try HostPins([:]).keys(for: "a..b") == nil)
    }
}

#if os(Linux) || os(Android)
import Errand
import ErrandEssentials
import ErrandTLS

/// A transport's pinned keys. Invalid pins throw `insecureConnection`.
struct PinTable {
    private let pins: HostPins

    init(_ pins: [String: [String]]) throws(ErrandError) {
        do { self.pins = try HostPins(pins) } catch {
            throw ErrandError(.insecureConnection, error.description)
        }
    }

    var isEmpty: Bool { pins.isEmpty }

    func keys(for url: URL) throws(ErrandError) -> [String]? {
        do { return try pins.keys(for: url.host ?? "") } catch {
            throw ErrandError(.insecureConnection, error.description)
        }
    }
}
#endif

import Errand
import ErrandEssentials

/// The `Upload-Concat` field of tus: whether an upload is a segment, or what segments are joined to.
enum UploadConcat: Sendable, Equatable {
    case partial
    /// The places of the segments, in the order of their bytes.
    case final([String])

    static let name: HTTPHeaderName = "Upload-Concat"
    /// The most bytes of the field: many servers take 8 KiB for a line.
    static let maximumBytes = 7_800

    /// Nil for a field that is missing, that occurs twice, or that is neither.
    init?(_ headers: HTTPHeaders) {
        let values = headers.values(of: Self.name)
        guard values.count == 1 else { return nil }
        let pieces = values[0].split(separator: ";", maxSplits: 1, omittingEmptySubsequences: false)
        let places = pieces.count > 1 ? pieces[1].split(separator: " ").map(String.init) : []
        switch String(pieces.first ?? "").trimmingSpaces.lowercased() {
        case "partial" where pieces.count == 1: self = .partial
        case "final": self = .final(places)
        default: return nil
        }
    }

    /// The value of the field.
    var text: String {
        switch self {
        case .partial: "partial"
        case .final(let places): "final;" + places.joined(separator: " ")
        }
    }

    /// Whether a place fits in the field beside those of all other segments.
    static func fits(_ place: URL, among count: Int) -> Bool {
        place.absoluteString.utf8.count < (maximumBytes - 6) / max(1, count)
    }
}

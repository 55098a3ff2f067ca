import Errand
import ErrandEssentials
import ErrandHTTPSyntax

/// Sets a file's date to the server's.
enum RemoteTime {
    /// Applies `Last-Modified` to a file. Returns the reason if that fails. Blocks.
    static func keep(_ response: HTTPResponse, _ path: String) -> String? {
        guard let date = response.headers["Last-Modified"].flatMap({ HTTPDate.parse($0) }) else {
            return "the server sends no date for the file"
        }
        do { try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: path) } catch {
            return "the date of the file cannot be set"
        }
        return nil
    }
}

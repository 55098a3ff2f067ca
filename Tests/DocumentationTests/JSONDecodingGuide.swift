// The code of docs/json-decoding.md.
import Errand
import ErrandJSONDecoding
import Foundation

private func fast(_ agent: NetworkAgent) {
    agent.configure { $0.decoder = .fast }
}

private func configured(_ agent: NetworkAgent) {
    agent.configure {
        var decoder = FastJSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        decoder.dateDecodingStrategy = .iso8601
        $0.decoder = decoder
    }
}

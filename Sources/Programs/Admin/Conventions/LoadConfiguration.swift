import Config

/// Reads the configuration and prints a warning for each unknown variable.
func loadConfiguration() throws(ConfigError) -> Configuration {
    let configuration = try Configuration.load()
    for variable in configuration.unknownVariables {
        printError("bookplate-admin: warning: \(variable)")
    }
    return configuration
}

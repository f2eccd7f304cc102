import { WebServer, type WebServerOptions } from './web-server.js';

/** Starts an Alertmanager, alone, on a free port of this machine with the given configuration, and waits until it is ready. */
export function startAlertmanager(options: WebServerOptions): Promise<WebServer> {
  return WebServer.start(
    {
      name: 'Alertmanager',
      command: 'prometheus-alertmanager',
      debianPackage: 'prometheus-alertmanager',
      args: ({ listen, data, configFile }) => [
        `--config.file=${configFile}`,
        `--storage.path=${data}`,
        `--web.listen-address=${listen}`,
        '--cluster.listen-address=',
      ],
    },
    options,
  );
}

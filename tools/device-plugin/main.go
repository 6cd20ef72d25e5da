// The smallest device plugin. It offers a device for each CDI name that it is told, and gives a container what the names of its devices
// stand for:
//
//	device-plugin [RESOURCE CDI-NAME...]
//
// Without arguments it offers one device, example.com/device, that gives a container nothing: with it the recordings show what a kubelet
// does with pods whose plugin has gone.
package main

import (
	"context"
	"log"
	"net"
	"os"
	"strconv"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	api "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
)

// A plugin's devices have the places of their CDI names as ids.
type plugin struct {
	api.UnimplementedDevicePluginServer
	names []string
}

func (plugin) GetDevicePluginOptions(context.Context, *api.Empty) (*api.DevicePluginOptions, error) {
	return &api.DevicePluginOptions{}, nil
}

func (p plugin) ListAndWatch(_ *api.Empty, stream api.DevicePlugin_ListAndWatchServer) error {
	list := &api.ListAndWatchResponse{}
	for id := range p.names {
		list.Devices = append(list.Devices, &api.Device{ID: strconv.Itoa(id), Health: api.Healthy})
	}
	if err := stream.Send(list); err != nil {
		return err
	}
	<-stream.Context().Done()
	return nil
}

func (p plugin) Allocate(_ context.Context, request *api.AllocateRequest) (*api.AllocateResponse, error) {
	answer := &api.AllocateResponse{}
	for _, container := range request.ContainerRequests {
		one := &api.ContainerAllocateResponse{}
		for _, id := range container.DevicesIds {
			place, err := strconv.Atoi(id)
			if err != nil || place >= len(p.names) {
				log.Fatalf("no such device: %s", id)
			}
			if p.names[place] != "" {
				one.CdiDevices = append(one.CdiDevices, &api.CDIDevice{Name: p.names[place]})
			}
		}
		answer.ContainerResponses = append(answer.ContainerResponses, one)
	}
	return answer, nil
}

func main() {
	resource, names := "example.com/device", []string{""}
	if len(os.Args) > 2 {
		resource, names = os.Args[1], os.Args[2:]
	}
	endpoint := strings.ReplaceAll(resource, "/", "-") + ".sock"
	socket := api.DevicePluginPath + endpoint
	os.Remove(socket)
	listener, err := net.Listen("unix", socket)
	if err != nil {
		log.Fatal(err)
	}
	server := grpc.NewServer()
	api.RegisterDevicePluginServer(server, plugin{names: names})
	go func() { log.Fatal(server.Serve(listener)) }()

	kubelet, err := grpc.NewClient("unix://"+api.KubeletSocket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		log.Fatal(err)
	}
	registration := &api.RegisterRequest{Version: api.Version, Endpoint: endpoint, ResourceName: resource}
	if _, err := api.NewRegistrationClient(kubelet).Register(context.Background(), registration); err != nil {
		log.Fatal(err)
	}
	select {}
}
